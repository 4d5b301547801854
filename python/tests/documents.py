"""Runs the Python of documents with the installed package: documents.py FILE… [--without pandas] [--record]

The blocks of a Markdown file are run one after another. A text block that follows a block of Python is the
expected output of that block. The cells of a notebook are run again, and their text outputs must be those that are stored. Files are written to
a temporary folder, in which examples/ is a link. Without pandas, lines that need it are left out, and the output that the rest has must be the
beginning of the expected one; a notebook then runs without Jupyter.
With --record, the outputs of today replace those of the documents.
"""
import ast
import contextlib
import io
import json
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


def compare(name, wanted, shown, begins=False):
    """Compares the output of a document with that of today, of which only the beginning is there if `begins`."""
    wanted, shown = wanted.rstrip(), shown.rstrip()
    if wanted != shown and not (begins and (not shown or wanted.startswith(shown + "\n"))):
        sys.exit(f"{name}: the document shows\n{wanted}\nand the program prints\n{shown}")


def without_frames(source):
    """Returns a source without the lines that need pandas."""
    return re.sub(r"^.*to_frame.*$", "", source, flags=re.M)


def run_markdown(name, text, without_pandas):
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", text, re.M | re.S)
    space, shown, begins = {"__name__": "__main__"}, "", False
    for kind, block in blocks:
        if kind == "text":
            compare(name, block, shown, begins)
            continue
        begins = without_pandas and "to_frame" in block
        if begins:
            block = without_frames(block)
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(block, name, "exec"), space)  # pylint: disable=exec-used
        shown = stream.getvalue()
    return sum(kind == "python" for kind, _ in blocks)


def texts_of(cell):
    """The text outputs of a cell: what it prints, and the text of its value."""
    texts = []
    for output in cell.get("outputs", []):
        texts.append(output["text"] if output["output_type"] == "stream" else output.get("data", {}).get("text/plain", ""))
    return "\n".join("".join(text).rstrip() for text in texts)


def html_of(cell):
    """The HTML of a cell before its picture, which depends on the version of gnuplot."""
    return "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", [])).split("<svg")[0]


def run_cells(name, path):
    """Runs the cells of a notebook in this interpreter and compares what they print and the text of their values."""
    with open(path, encoding="utf-8") as stream:
        cells = [cell for cell in json.load(stream)["cells"] if cell["cell_type"] == "code"]
    space = {"__name__": "__main__"}
    for cell in cells:
        source, value = "".join(cell["source"]), None
        tree = ast.parse(without_frames(source))
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(tree, name, "exec"), space)  # pylint: disable=exec-used
            if last:
                value = eval(compile(last, name, "eval"), space)  # pylint: disable=eval-used
        compare(name, texts_of(cell), stream.getvalue() + ("" if value is None else repr(value)), "to_frame" in source)
        if hasattr(value, "_repr_html_"):
            compare(name, html_of(cell), value._repr_html_().split("<svg")[0])  # pylint: disable=protected-access
    return len(cells)


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
        compare(name, html_of(old), html_of(new))
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
                count = run_cells(file, path) if without_pandas else run_notebook(file, path, record)
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
