"""Licences of the system's libraries that a frozen folder may take along.

Debian's copyright files list the licences of build scripts and tests too, so somebody
has to look: what stands here is the licence of the library itself, by those files. One
that does not stand here ends the build, until somebody has looked.
"""

_BY_LICENCE = {
    "MIT": (
        "libbrotli1 libexpat1 libffi8 libfontconfig1 libgssapi-krb5-2 libharfbuzz0b "
        "libk5crypto3 libkrb5-3 libkrb5support0 libpixman-1-0 libx11-6 libx11-xcb1 "
        "libxau6 libxcb-cursor0 libxcb-glx0 libxcb-icccm4 libxcb-image0 "
        "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-render0 "
        "libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-util1 libxcb-xfixes0 "
        "libxcb-xinerama0 libxcb-xkb1 libxcb1 libxdmcp6 libxext6 libxfixes3 libxi6 "
        "libxinerama1 libxkbcommon-x11-0 libxkbcommon0 libxrandr2 libxrender1 "
        "libxcomposite1 libxcursor1 libxdamage1 libepoxy0 libwayland-client0 "
        "libwayland-cursor0 libwayland-egl1 libcom-err2"
    ),
    "X11-distribute-modifications-variant": "libncursesw6 libtinfo6",
    "BSD-2-Clause": "liblz4-1",
    "BSD-3-Clause": "libbsd0 libmd0 libpcre2-8-0 libuuid1",
    "BSD-3-Clause OR GPL-2.0-only": "libcap2 libzstd1",
    "Apache-2.0": "libssl3",
    "bzip2-1.0.6": "libbz2-1.0",
    "blessing": "libsqlite3-0",
    "LicenseRef-public-domain": "liblzma5 libselinux1",
    "libpng-2.0": "libpng16-16",
    "Zlib": "zlib1g",
    "IJG AND BSD-3-Clause AND Zlib": "libjpeg62-turbo libjpeg8",
    "FTL OR GPL-2.0-or-later": "libfreetype6",
    "AFL-2.1 OR GPL-2.0-or-later": "libdbus-1-3",
    "LGPL-2.1-only OR MPL-1.1": "libcairo2 libcairo-gobject2",
    "LGPL-2.1-or-later OR MPL-1.1 OR GPL-2.0-or-later": "libgraphite2-3",
    "GPL-3.0-or-later WITH GCC-exception-3.1": "libgcc-s1 libgomp1 libstdc++6",
    "LGPL-2.0-or-later": (
        "libatk1.0-0 libatk-bridge2.0-0 libatspi2.0-0 libkeyutils1 libpango-1.0-0 "
        "libpangocairo-1.0-0 libpangoft2-1.0-0"
    ),
    "LGPL-2.1-or-later": (
        "libblkid1 libdatrie1 libfribidi0 libgcrypt20 libgdk-pixbuf-2.0-0 libglib2.0-0 "
        "libgpg-error0 libmount1 libsystemd0 libthai0"
    ),
}
SYSTEM_LICENCES = {
    package: licence
    for licence, packages in _BY_LICENCE.items()
    for package in packages.split()
}
"""Each package, by its name without t64, with the licence of its library."""
