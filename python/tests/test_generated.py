"""The generated module is current and agrees with the library."""
import ctypes
import inspect
import keyword
import os
import subprocess
import unittest

import howmany
from howmany import _library, _verbs
from howmany._answers import CLASSES, Answer, Record
from support import BUILD, Case, read


class Generated(Case):
    def test_module_is_what_the_tables_say(self):
        printed = subprocess.run([os.path.join(BUILD, "python-verbs")], capture_output=True, text=True, check=True).stdout
        self.assertEqual(read("python/howmany/_verbs.py"), printed, "run: make types")

    def test_structs_have_the_sizes_of_the_library(self):
        for name, own in {"hm_err": _library.Err, "hm_context": _library.Context, "hm_store_access": _library.StoreAccess,
                          "hm_reply_file": _library.ReplyFile, "hm_reply": _library.ReplyStruct,
                          "hm_stored_sample": _library.StoredSample, "hm_stored": _library.Stored}.items():
            self.assertEqual(ctypes.sizeof(own), _verbs.SIZES[name], name)

    def test_version_of_the_library(self):
        self.assertEqual(tuple(map(int, howmany.__version__.split(".")[:2])), _verbs.LIBRARY)

    def test_functions_document_every_parameter(self):
        for name in _verbs.VERBS:
            identifier = name.replace(" ", "_")
            function = getattr(_verbs, identifier + "_" if keyword.iskeyword(identifier) else identifier)
            for parameter in inspect.signature(function).parameters:
                self.assertIn(f"\n    {parameter}: ", inspect.getdoc(function))

    def test_members_do_not_hide_methods(self):
        own = {name for cls in (Answer, Record) for name in vars(cls) if not name.startswith("_")}
        for name, cls in CLASSES.items():
            self.assertFalse(own & set(cls.__annotations__), name)


if __name__ == "__main__":
    unittest.main()
