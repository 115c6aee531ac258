"""A limit on the memory of this process, enforced by the operating system."""

import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _PROCESS_MEMORY = 0x100
    _EXTENDED_LIMITS = 9

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    class _MemoryStatus(ctypes.Structure):
        _fields_ = (
            ("dwLength", wintypes.DWORD),
            ("dwMemoryLoad", wintypes.DWORD),
            ("ullTotalPhys", ctypes.c_uint64),
            ("ullAvailPhys", ctypes.c_uint64),
            ("others", ctypes.c_uint64 * 5),
        )

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel.GetCurrentProcess.restype = wintypes.HANDLE
    _jobs: list[int] = []

    def limit_memory(size: int) -> None:
        """Limit the committed memory of this process to ``size`` bytes."""
        if not _jobs:
            job = _kernel.CreateJobObjectW(None, None)
            process = wintypes.HANDLE(_kernel.GetCurrentProcess())
            _kernel.AssignProcessToJobObject(wintypes.HANDLE(job), process)
            _jobs.append(job)
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _PROCESS_MEMORY
        limits.ProcessMemoryLimit = size
        _kernel.SetInformationJobObject(
            wintypes.HANDLE(_jobs[0]),
            _EXTENDED_LIMITS,
            ctypes.byref(limits),
            ctypes.sizeof(limits),
        )

    def free_memory() -> int:
        """Return the bytes of physical memory that are free."""
        status = _MemoryStatus(dwLength=ctypes.sizeof(_MemoryStatus))
        _kernel.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.ullAvailPhys)

elif sys.platform == "linux":
    import resource

    def limit_memory(size: int) -> None:
        """Limit the memory allocated by this process to ``size`` bytes.

        RLIMIT_DATA counts what a process allocates but not, as RLIMIT_AS does, mapped
        libraries.
        """
        # Only the soft limit: a lowered hard one could never be raised again.
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))

else:
    import os
    import resource
    import threading
    import time

    _limit: list[int] = []
    _EVERY_S = 0.1

    def limit_memory(size: int) -> None:
        """End this process when it has used more than ``size`` bytes.

        macOS enforces no limit of its own on what a process allocates.
        """
        if not _limit:
            threading.Thread(target=_watch, daemon=True).start()
        _limit[:] = [size]

    def _watch() -> None:
        # In bytes on macOS; Linux counts KiB.
        while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss <= _limit[0]:
            time.sleep(_EVERY_S)
        os._exit(1)
