"""Runs the Python of documents with the installed package: documents.py FILE… [--without pandas] [--record]

The blocks of a Markdown file are run one after another. A text block that follows a block of Python is the
expected output of that block. The cells of a notebook are run again, and their text outputs must be those that are stored. Files are written to
a temporary folder, in which examples/ is a link. Without pandas, lines that need it are left out.
With --record, the outputs of today replace those of the documents.
"""
import contextlib
import io
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def record_markdown(text):
    """Returns the document with the outputs of today."""
    space, shown, parts, at = {"__name__": "__main__"}, "", [], 0
    for match in re.finditer(r"^```(python|text)\n(.*?)^```$", text, re.M | re.S):
        if match.group(1) == "text":
            parts += [text[at:match.start(2)], shown.rstrip() + "\n"]
            at = match.end(2)
            continue
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(match.group(2), "document", "exec"), space)  # pylint: disable=exec-used
        shown = stream.getvalue()
    return "".join(parts) + text[at:]


def compare(name, wanted, shown):
    if wanted.rstrip() != shown.rstrip():
        sys.exit(f"{name}: the document shows\n{wanted}\nand the program prints\n{shown}")


def run_markdown(name, text, without_pandas):
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", text, re.M | re.S)
    space, shown = {"__name__": "__main__"}, ""
    for kind, block in blocks:
        if kind == "text":
            compare(name, block, shown)
            continue
        if without_pandas:
            block = re.sub(r"^.*to_frame.*$", "", block, flags=re.M)
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(block, name, "exec"), space)  # pylint: disable=exec-used
        shown = stream.getvalue()
    return sum(kind == "python" for kind, _ in blocks)


def texts_of(cell):
    """The text outputs of a cell: what it prints, and the text of its value."""
    texts = []
    for output in cell.get("outputs", []):
        texts.append(output["text"] if output["output_type"] == "stream" else output.get("data", {}).get("text/plain", ""))
    return "\n".join(text.rstrip() for text in texts)


def run_notebook(name, path, record):
    import nbformat
    from nbclient import NotebookClient

    stored = nbformat.read(path, as_version=4)
    again = nbformat.read(path, as_version=4)
    NotebookClient(again, timeout=120, kernel_name="python3").execute()
    if record:
        for old, new in zip(stored.cells, again.cells):
            if old.cell_type == "code":
                old.outputs = new.outputs
        nbformat.write(stored, path)
    cells = [(old, new) for old, new in zip(stored.cells, again.cells) if old.cell_type == "code"]
    for old, new in cells:
        compare(name, texts_of(old), texts_of(new))
    if not any("text/html" in output.get("data", {}) for _, cell in cells for output in cell.outputs):
        sys.exit(f"{name}: no cell shows HTML")
    return len(cells)


def main():
    files = [word for word in sys.argv[1:] if not word.startswith("--")]
    without_pandas, record = "--without" in sys.argv, "--record" in sys.argv
    if without_pandas:
        files.remove("pandas")
    paths = [os.path.abspath(file) for file in files]
    for file, path in zip(files, paths):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
            os.chdir(folder)
            os.environ["HOWMANY_DB"] = os.path.join(folder, "own.db")
            if path.endswith(".ipynb"):
                count = run_notebook(file, path, record)
            else:
                with open(path, encoding="utf-8") as stream:
                    text = stream.read()
                if record:
                    with open(path, "w", encoding="utf-8") as stream:
                        stream.write(record_markdown(text))
                    os.chdir(ROOT)
                    continue
                count = run_markdown(file, text, without_pandas)
            os.chdir(ROOT)
        if count == 0:
            sys.exit(f"{file}: it has no Python")
        print(f"{file}: {count} blocks")


if __name__ == "__main__":
    main()
