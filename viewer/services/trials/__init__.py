"""The path of one trial, from pixels to verdict."""
