"""Build backend (PEP 517) of the package: builds the shared library with Meson, and packs it with the Python files.

It needs Meson, Ninja, a C compiler and libyaml with its headers; zlib and SQLite are used if they are
installed, and libpq is loaded when a PostgreSQL store is named. METIS is left out, as nothing else in the
package needs it. The wheel is tagged linux_ARCH, since it uses libraries of the machine that built it;
`make wheel` lets auditwheel copy these into the wheel and change the tag.
"""
import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "python", "howmany")
BUILD = os.environ.get("HOWMANY_BUILD", os.path.join(ROOT, "build-wheel"))
OPTIONS = ["-Dtests=false", "-Dbuildtype=release", "-Dmetis=disabled", "-Dmpi=disabled", "-Dsimgrid=disabled",
           "-Dopenblas=disabled", "-Dman=disabled", "-Dwerror=false"]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as stream:
        return stream.read()


def version():
    numbers = dict(re.findall(r"^#define HM_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", read("include", "howmany_base.h"), re.M))
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


def project():
    """The table [project] of pyproject.toml. Python 3.9 and 3.10 have no reader of TOML, so its few forms are read
    here: texts, and lists of texts."""
    table = read("pyproject.toml").split("[project]\n")[1].split("\n[")[0]
    found = {}
    for name, text, items in re.findall(r'^([a-z-]+) = (?:"(.*)"|\[((?:[^\]"]|"[^"]*")*)\])$', table, re.M):
        found[name] = re.findall(r'"([^"]*)"', items) if items else text
    return found


def metadata():
    about = project()
    lines = ["Metadata-Version: 2.1", "Name: " + about["name"], "Version: " + version(),
             "Summary: " + about["description"], "License: Apache-2.0", "Keywords: " + ",".join(about["keywords"]),
             *("Classifier: " + text for text in about["classifiers"]), "Requires-Python: " + about["requires-python"],
             "Provides-Extra: frames", "Requires-Dist: pandas; extra == 'frames'",
             "Description-Content-Type: text/markdown", "", read("python", "README.md")]
    return "\n".join(lines)


def build_library():
    """Build the library and return its path."""
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, ROOT, *OPTIONS], check=True)
    name = "libhowmany.so." + version()
    subprocess.run(["ninja", "-C", BUILD, name], check=True)
    return os.path.join(BUILD, name)


def tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


class Wheel:
    """A wheel that is being written, with the record of its files."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []
        self.info = f"howmany-{version()}.dist-info"

    def add(self, name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")
        entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))  # One date, so that equal contents give equal wheels.
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        self.archive.writestr(entry, data)

    def close(self):
        self.add(f"{self.info}/METADATA", metadata().encode())
        self.add(f"{self.info}/LICENSE", read("LICENSE").encode())
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: howmany\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode())
        lines = "\n".join([*self.record, f"{self.info}/RECORD,,"]) + "\n"
        self.archive.writestr(zipfile.ZipInfo(f"{self.info}/RECORD", (2026, 1, 1, 0, 0, 0)), lines)
        self.archive.close()


def package_files():
    for folder, folders, names in os.walk(PACKAGE):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py") or name == "py.typed":
                yield os.path.join(folder, name)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = build_library()
    name = f"howmany-{version()}-{tag()}.whl"
    wheel = Wheel(os.path.join(wheel_directory, name))
    for path in package_files():
        with open(path, "rb") as stream:
            wheel.add("howmany/" + os.path.relpath(path, PACKAGE), stream.read())
    with open(library, "rb") as stream:
        wheel.add("howmany/libhowmany.so", stream.read())
    wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"howmany-{version()}"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as archive:
        for path in filter(None, files.split("\0")):
            archive.add(os.path.join(ROOT, path), f"{name}/{path}")
        about = os.path.join(BUILD, "PKG-INFO")
        os.makedirs(BUILD, exist_ok=True)
        with open(about, "w", encoding="utf-8") as stream:
            stream.write(metadata())
        archive.add(about, f"{name}/PKG-INFO")
    return name + ".tar.gz"
