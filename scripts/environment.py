"""Python packages for the scripts beside this file."""
import importlib.metadata
import os
import subprocess
import sys
import tempfile

MARK = "STATECAST_SCRIPT_ENVIRONMENT"


def require(**versions):
    """Returns if the packages are there in these versions.

    Otherwise starts the script again in a temporary environment that has them, which needs the network, and exits with
    what it exits with.
    """
    missing = {name: version for name, version in versions.items() if installed(name) != version}
    if not missing:
        return
    if os.environ.get(MARK):
        sys.exit(f"installed, but not found: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as place:
        venv = [sys.executable, "-m", "venv", place]
        if subprocess.run(venv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            # Debian keeps a part of `venv` in a package of its own.
            root = [] if os.geteuid() == 0 else ["sudo"]
            subprocess.run(root + ["apt-get", "update", "-qq"], check=True, stdout=sys.stderr)
            subprocess.run(root + ["apt-get", "install", "-y", "-qq", "python3-venv"], check=True, stdout=sys.stderr)
            subprocess.run(venv, check=True, stdout=sys.stderr)
        python = f"{place}/bin/python"
        wanted = [f"{name}=={version}" for name, version in versions.items()]
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True, stdout=sys.stderr)
        sys.exit(subprocess.run([python, *sys.argv], env={**os.environ, MARK: place}).returncode)


def installed(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
