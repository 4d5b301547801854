"""How many machines should train your model, how long will it take, what will it cost, and why?

    >>> import howmany
    >>> print(howmany.plan("job.yaml", deadline="6h"))

Arguments have the names of the command line's options, with underscores: --max-n is max_n.
"""
from . import callbacks
from ._answers import Answer, Record
from ._library import Error, version as __version__
from ._plans import Plans, plans
from ._record import Recorder, record
from ._store import Store
from ._verbs import (Advise, Catalog, CatalogEntry, Converge, Design, Fit, Graph, Import, Plan, Recommend, advise,
                     catalog_import, catalog_list, catalog_list as catalog, catalog_show, converge, design, fit, graph,
                     import_, plan, recommend)

__all__ = ["Advise", "Answer", "Catalog", "CatalogEntry", "Converge", "Design", "Error", "Fit", "Graph", "Import", "Plan", "Plans",
           "Recommend", "Record", "Recorder", "Store", "__version__", "advise", "callbacks", "catalog", "catalog_import", "catalog_list",
           "catalog_show", "converge", "design", "fit", "graph", "import_", "plan", "plans", "recommend", "record"]
