#!/usr/bin/env python3
"""Checks of style that need more than grep: style_code.py CHECK; prints what is wrong and exits with 1.

layers    each module uses what the table in ARCHITECTURE.md allows: its includes, and the dependencies in its
          meson.build, which must be exactly those of the table
files     tracked files have an allowed kind and size
structs   no two structs have one name
cycles    no files of one folder include each other in a cycle
statics   the name of a static function has at least two parts
keys      only src/base/json.c writes JSON keys
internal  functions of src that are not public start with hm__
words     comments do not contain the words that STYLE bans
version   the version is in include/howmany_base.h and in CHANGELOG.md, and nowhere else
flags     messages of the library name fields; a flag appears only in a command in backquotes: `howmany …`
opens     requests open files only in src/request/files.c
callers   every function that is not static has a caller outside the tests
"""
import collections
import os
import re
import subprocess
import sys

LARGEST = 300_000
KINDS = set("c h yaml err build md sh csv py json tsx tsv ts mjs jsonl svg lua js html css conf toml ipynb".split())
NAMES = {".clang-format", ".gitignore", "LICENSE", "Makefile", "Containerfile", "meson_options.txt"}
# Files of other kinds, and the folders in which every name is allowed.
EXCEPTIONS = {
    "examples/mnist-traces.csv.gz": "traces of an example; 150 kB as text",
    "examples/stale-traces.csv.gz": "traces of an example",
    "examples/crossing-traces.csv.gz": "traces of an example",
    "examples/sample-traces.csv.gz": "traces of an example",
    "examples/slow-traces.csv.gz": "traces of an example",
    "docs/images/page.png": "a picture of the page for the README",
    "examples/nccl-tests.txt": "an output of nccl-tests for an example",
    "examples/c/serve.http": "HTTP requests for an example",
    "examples/howmany.service": "an example of a systemd unit",
    "tests/data/data-small.libsvm": "rows in the format of LIBSVM",
    "tests/unit/wire.proto": "messages of a test of protocol buffers",
    "python/howmany/py.typed": "says that the package has type hints",
    "web/.npmrc": "settings of npm",
}
FREE_FOLDERS = ("tests/fuzz/corpus/", "tests/data/answers/", "tests/data/torch/", "tools/", ".ci/", ".github/")
NEVER = re.compile(r"\$|\.(db|db-wal|db-shm|log|o|a|so|gcda|gcno|pyc)$|~$")
# Files of one algorithm that may include each other.
CYCLES_ALLOWED = {
    # The kernels implement the update of propagate.h and share its settings.
    frozenset({"src/train/problems/propagate", "src/train/problems/propagate_kernel"}),
    # The messages of the protocol that server.h describes; their fields use its types.
    frozenset({"src/train/platforms/messages", "src/train/platforms/server"}),
}
# Functions without a caller in the sources, most of which only tests call.
HOOKS = {
    "hm__alloc_fail_after": "makes an allocation fail",
    "hm__alloc_fail_once": "makes one allocation fail",
    "hm__schema_check": "compares an answer with its schema; it calls itself",
}
# Strings of JSON outside the JSON writer.
KEYS_ALLOWED = {
    "apps/howmany/http/api_problem.c": "the static response when memory has run out",
}
BANNED = (r"told|stands?|whoever|nobody|somebody|so many|knocks?|goodbye|crew|guests?|ink|desk|lends?"
          r"|theirs|ourselves")


def tracked():
    """Names of all files of the project: from git, or from the folder where the archive was unpacked."""
    done = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout:
        return [name for name in done.stdout.split("\0") if name and os.path.exists(name)]
    return [os.path.relpath(os.path.join(folder, name)) for folder, _, names in os.walk(".")
            if not re.search(r"/(build[^/]*|node_modules|\.git)(/|$)", folder) for name in names]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def sources(*folders):
    return [name for name in tracked() if name.endswith((".c", ".h")) and name.startswith(folders)]


def without_comments(text):
    """The text with comments and strings replaced by blanks, lines kept."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


# ---- layers ---------------------------------------------------------------------------------------


def table():
    """{module: [modules it may use]} from the table in ARCHITECTURE.md."""
    rows = {}
    for line in read("ARCHITECTURE.md").splitlines():
        match = re.match(r"\| `((?:src|apps)/[a-z/-]+)` \|.*\| ([^|]*) \|$", line)
        if match:
            rows[match.group(1)] = [] if match.group(2) in ("libc", "") else match.group(2).split(", ")
    return rows


def short(module):
    """The name by which the table and this check call a module: src/base is base."""
    names = {"apps/howmany-train/options": "howmany-train/options", "apps/howmany/train": "howmany/train"}
    return names.get(module, module.split("/")[-1])


def variable(module):
    """The name by which meson.build files call a module."""
    names = {"howmany-train/options": "train_options", "howmany-train": "rank", "howmany/train": "training"}
    return names.get(module, module)


def module_of(path, modules):
    found = [module for module in modules if path.startswith(module + "/")]
    return max(found, key=len) if found else None


def named_dependencies(module, variables):
    text = read(module + "/meson.build")
    lists = re.findall(r"dependencies: *(\[[^\]]*\]|\w+)", text)
    words = {word for found in lists for word in re.findall(r"\w+", found)}
    if module == "apps/howmany-train":  # its matrix products depend on train
        words.discard("rank")
    return words & variables - {variable(short(module))}


def check_layers():
    rows = table()
    names = {short(module): module for module in rows}
    wrong = []

    def reach(module, seen):
        for use in rows[module]:
            if use not in names:
                wrong.append(f"ARCHITECTURE.md: {module} may use {use}, which is not a module of the table")
            elif use not in seen:
                seen.add(use)
                reach(names[use], seen)
        return seen

    variables = {variable(name) for name in names}
    folders = {os.path.dirname(name) for name in tracked() if name.endswith("/meson.build")}
    for folder in folders:
        if folder.startswith(("src/", "apps/")) and folder not in rows and folder != "apps/howmany":
            wrong.append(f"ARCHITECTURE.md: the table has no row for {folder}")
    headers = collections.defaultdict(set)
    for path in sources("src/", "apps/"):
        headers[os.path.basename(path)].add(module_of(path, rows))
    for module in rows:
        allowed = reach(module, set()) | {short(module)}
        named = named_dependencies(module, variables)
        wanted = {variable(use) for use in rows[module]}
        if named != wanted:
            wrong.append(f"{module}/meson.build depends on {sorted(named)}, the table says {sorted(wanted)}")
        for path in sources(module + "/"):
            if module_of(path, rows) != module:
                continue
            for header in re.findall(r'^#include "(.*)"', read(path), re.M):
                owners = {short(owner) for owner in headers.get(os.path.basename(header), set()) if owner}
                if ".." in header or owners and not owners & allowed:
                    wrong.append(f"{path} includes {header} of {', '.join(sorted(owners))}")
    if len(rows) < 10:
        wrong.append("ARCHITECTURE.md has no table of modules")
    return wrong


# ---- files ----------------------------------------------------------------------------------------


def check_files():
    wrong = []
    for path in tracked():
        name = os.path.basename(path)
        kind = name.rsplit(".", 1)[-1] if "." in name[1:] else ""
        if NEVER.search(path):
            wrong.append(f"{path}: a file of this name does not belong into the repository")
        elif path in EXCEPTIONS or path.startswith(FREE_FOLDERS) or name in NAMES or kind in KINDS:
            pass
        else:
            wrong.append(f"{path}: its kind is not in the list of tests/style_code.py")
        if os.path.getsize(path) > LARGEST and path not in EXCEPTIONS:
            wrong.append(f"{path}: {os.path.getsize(path)} bytes; at most {LARGEST}")
    return wrong


# ---- code -----------------------------------------------------------------------------------------


def check_structs():
    places = collections.defaultdict(set)
    for path in sources("src/", "apps/", "include/"):
        for name in re.findall(r"^(?:static |const |extern )*struct (\w+)\s*\{", without_comments(read(path)), re.M):
            places[name].add(path)
    return [f"struct {name}: {' '.join(sorted(found))}" for name, found in sorted(places.items()) if len(found) > 1]


def check_cycles():
    """Strongly connected sets of files (a .c and its .h are one) by includes within a folder."""
    uses = collections.defaultdict(set)
    stems = {os.path.splitext(path)[0] for path in sources("src/", "apps/")}
    for path in sources("src/", "apps/"):
        stem = os.path.splitext(path)[0]
        for header in re.findall(r'^#include "(.*)\.h"', read(path), re.M):
            other = os.path.join(os.path.dirname(path), header)
            if other in stems and other != stem:
                uses[stem].add(other)

    def reach(start):
        seen, stack = set(), list(uses[start])
        while stack:
            stem = stack.pop()
            if stem not in seen:
                seen.add(stem)
                stack.extend(uses[stem])
        return seen

    reached = {stem: reach(stem) for stem in list(uses)}
    cycles = {frozenset(other for other in reached[stem] if stem in reached.get(other, ())) for stem in reached
              if stem in reached[stem]}
    return [" ".join(sorted(cycle)) for cycle in cycles if cycle not in CYCLES_ALLOWED]


def functions(path, pattern):
    return re.findall(pattern + r"[\w\s]*?[\w*][\s*]+(\w+)\(", without_comments(read(path)), re.M)


def check_statics():
    return [f"{path}: {name}" for path in sources("src/", "apps/") for name in functions(path, r"^static ") if "_" not in name]


def check_internal():
    """Functions that are defined at the start of a line without static."""
    wrong = []
    public = set(re.findall(r"\b(hm_[a-z0-9_]+)\(", "".join(read(path) for path in sources("include/"))))
    for path in sources("src/"):
        if not path.endswith(".c"):
            continue
        text = without_comments(read(path))
        for name in re.findall(r"^(?!static|typedef|struct \w+ \{|#|return|else)[a-z][\w ]*?[ *]+(\w+)\([^;{]*\)\s*\{", text, re.M):
            if not name.startswith("hm__") and name not in public:
                wrong.append(f"{path}: {name}")
    return wrong


def check_keys():
    return [f"{path}:{number}: {line.strip()}" for path in sources("src/", "apps/")
            if path != "src/base/json.c" and path not in KEYS_ALLOWED for number, line in enumerate(read(path).splitlines(), 1) if re.search(r'\\"[A-Za-z_]+\\":', line)]


def check_words():
    wrong = []
    for path in sources("src/", "apps/", "include/", "tests/", "tools/", "bench/", "examples/"):
        text = read(path)
        for match in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S):
            for word in re.finditer(rf"\b({BANNED})\b", match.group(0)):
                number = text.count("\n", 0, match.start() + word.start()) + 1
                wrong.append(f"{path}:{number}: {word.group(0)}")
    return wrong


def check_version():
    numbers = dict(re.findall(r"^#define HM_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", read("include/howmany_base.h"), re.M))
    if len(numbers) != 3:
        return ["include/howmany_base.h: HM_VERSION_MAJOR, HM_VERSION_MINOR and HM_VERSION_PATCH are not numbers"]
    version = ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))
    wrong = []
    if not re.search(rf"^## {re.escape(version)}\b", read("CHANGELOG.md"), re.M):
        wrong.append(f"CHANGELOG.md has no {version}")
    if version in read("meson.build"):
        wrong.append("meson.build repeats the version of include/howmany_base.h")
    for path in sources("src/", "apps/", "include/"):
        for number, line in enumerate(read(path).splitlines(), 1):
            if re.search(rf'"{re.escape(version)}"', line):
                wrong.append(f"{path}:{number}: use HM_VERSION")
    return wrong


def strings(text):
    """(offset, literal) of the string literals; adjacent literals are joined."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.S)
    text = re.sub(r"^#include .*$", lambda match: " " * len(match.group(0)), text, flags=re.M)
    for match in re.finditer(r'(?:"(?:\\.|[^"\\\n])*"\s*)+', text):
        yield match.start(), "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group(0)))


def check_flags():
    wrong = []
    for path in sources("src/"):
        text = read(path)
        for start, literal in strings(text):
            allowed = r"`howmany [^`]*`|var\(--\w+|--[a-z0-9%]+:"  # commands, and variables of CSS
            if re.search(r"--[a-z]", re.sub(allowed, "", literal)):
                wrong.append(f"{path}:{text.count(chr(10), 0, start) + 1}: {literal}")
    return wrong


def check_opens():
    opening = re.compile(r"(?<![\w>.])(?:fopen|open|openat|fdopen|opendir|hm_[a-z]+_load\w*|hm__read_file)\s*\(")
    wrong = []
    for path in sources("src/request/", "apps/howmany/http/"):
        # The second file opens folders before the server starts, to forbid writing outside them.
        if path in ("src/request/files.c", "apps/howmany/http/http_confine_files.c"):
            continue
        for number, line in enumerate(without_comments(read(path)).splitlines(), 1):
            if opening.search(line):
                wrong.append(f"{path}:{number}: {line.strip()}")
    return wrong


def check_callers():
    """A function that is not static has a use in src or apps besides its definition, and one in another file or in the
    tests; otherwise it is dead or can be static. Functions of include/ are for users of the library."""
    declaration = r"^(?!#|\s|static inline)[^\n;{]*\([^;{]*\)[^;{]*;"  # A declaration in a header is no use.
    definition = r"^(?!static|typedef|struct \w+ \{|#|return|else)[a-z][\w ]*?[ *]+(\w+)\([^;{]*\)\s*\{"
    texts = {path: without_comments(read(path)) for path in sources("src/", "apps/")}
    public = set(re.findall(r"\b(hm_[a-z0-9_]+)\(", "".join(read(path) for path in sources("include/"))))
    tested = set(re.findall(r"\w+", "".join(without_comments(read(path)) for path in sources("tests/", "bench/"))))
    uses, files = collections.Counter(), collections.Counter()
    for path, text in texts.items():
        names = re.findall(r"\w+", re.sub(declaration, "", text, flags=re.M) if path.endswith(".h") else text)
        uses.update(names)
        files.update(set(names))
    wrong = []
    for path, text in texts.items():
        for name in re.findall(definition, text, re.M) if path.endswith(".c") else []:
            if name in public or name in HOOKS or name == "main":
                continue
            if uses[name] < 2:
                wrong.append(f"{path}: {name} has no caller")
            elif files[name] < 2 and name not in tested:
                wrong.append(f"{path}: {name} can be static")
    return wrong


def main():
    check = globals().get("check_" + sys.argv[1]) if len(sys.argv) == 2 else None
    if not check:
        sys.exit(__doc__)
    wrong = check()
    if wrong:
        print("\n".join(wrong))
        sys.exit(1)


main()
