/*
 * Implements the catalog: machines, fabrics, networks and accelerators by name. A catalog file is
 * YAML or JSON with the top-level keys machines, fabrics, networks and accelerators;
 * docs/reference/catalog.md describes them. Five files are built in. Entries in a file that is
 * added later replace entries with the same name.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "checks.h"
#include "embedded.h"
#include "err.h"
#include "readers.h"
#include "text.h"

/* Tree of an entry, in its own arena. */
struct catalog_tree {
    struct hm_arena *arena;
    const struct hm_value *value;
};

/*
 * An entry of a built-in file, which is parsed when it is first needed, because most programs look
 * up two or three of several hundred entries. Threads may parse the same entry; the first tree is
 * kept.
 */
struct catalog_block {
    const struct hm_embedded_entry *entry;
    const struct hm_embedded *file;
    _Atomic(struct catalog_tree *) tree; /* Tree of the entry; NULL until it is parsed. */
};

struct catalog_entry {
    const char *name;
    const struct hm_value *value; /* Parsed tree of the entry; NULL if the entry is in `block`,
                                     which is parsed when it is needed. */
    struct catalog_block *block;
};

struct hm_catalog {
    struct hm_arena *arena;
    /* Entries of each kind, in the arena; the entries of the newest file come first. */
    struct catalog_entry *entries[HM_CATALOG_KINDS];
    size_t counts[HM_CATALOG_KINDS];
    struct catalog_block *blocks; /* Entries of the built-in files, in the arena. */
    size_t block_count;
};

static const char *const sections[] = {"machines", "fabrics", "networks", "accelerators"};
static const char *const singular[] = {"machine", "fabric", "network", "accelerator"};

static int check_document(struct hm_value *root, struct hm_err *err)
{
    static const struct hm_field fields[] = {{.name = "machines", .kind = HM_FIELD_OTHER},
                                             {.name = "fabrics", .kind = HM_FIELD_OTHER},
                                             {.name = "networks", .kind = HM_FIELD_OTHER},
                                             {.name = "accelerators", .kind = HM_FIELD_OTHER}};
    struct hm_reader reader = {.err = err};
    int rc = hm__read_map(&reader, root, fields, HM_CATALOG_KINDS, NULL);

    for (int kind = 0; rc == 0 && kind < HM_CATALOG_KINDS; kind++) {
        const struct hm_value *section = hm__value_get(root, sections[kind]);
        if (!section)
            continue;
        hm__reader_enter(&reader, sections[kind]);
        rc = hm__expect_kind(&reader, section, HM_VALUE_MAP, "names and their entries");
        hm__reader_leave(&reader, 0);
    }
    return rc;
}

/* Puts the entries of a new file before the existing ones, and drops existing entries with the same
 * name. */
static int list_entries(struct hm_catalog *catalog, enum hm_catalog_kind kind,
                        const struct hm_value *section, struct hm_err *err)
{
    size_t count = section ? section->count : 0, old = catalog->counts[kind], used = count;
    struct catalog_entry *entries = hm__arena_alloc(catalog->arena, count + old, sizeof(*entries));

    if (!entries)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        entries[i] = (struct catalog_entry){section->keys[i], &section->items[i], NULL};
        if (kind == HM_CATALOG_MACHINE) /* Earlier versions used the key `network` instead of
                                           `fabric`. */
            hm__value_rename(&section->items[i], "network", "fabric");
    }
    for (size_t i = 0; i < old; i++)
        if (!hm__value_get(section, catalog->entries[kind][i].name))
            entries[used++] = catalog->entries[kind][i];
    catalog->entries[kind] = entries;
    catalog->counts[kind] = used;
    return 0;
}

int hm_catalog_add(struct hm_catalog *catalog, const char *text, size_t length, const char *source,
                   struct hm_err *err)
{
    int bad = hm__check_pointers(err, "catalog", catalog, NULL);
    if (bad == 0)
        bad = hm__check_array(text, length, "text", err);
    if (bad)
        return bad;
    struct hm_value *root;
    int rc = hm__value_parse(catalog->arena, text, length, source, &root, err);
    if (rc == 0)
        rc = check_document(root, err);
    for (int kind = 0; rc == 0 && kind < HM_CATALOG_KINDS; kind++)
        rc = list_entries(catalog, (enum hm_catalog_kind)kind, hm__value_get(root, sections[kind]),
                          err);
    return rc;
}

/* ---- built-in files -------------------------------------------------------------------------- */

/* Returns the tree of an entry, or NULL if memory runs out. */
static const struct hm_value *entry_value(const struct catalog_entry *entry)
{
    struct catalog_block *block = entry->block;
    struct catalog_tree *tree, *none = NULL;
    struct hm_value *root;

    if (entry->value)
        return entry->value;
    if ((tree = atomic_load(&block->tree)))
        return tree->value;
    struct hm_arena *arena = hm__arena_new();
    if (!arena)
        return NULL;
    tree = hm__arena_alloc(arena, 1, sizeof(*tree));
    if (!tree || hm__value_parse(arena, block->file->text + block->entry->at, block->entry->length,
                                 block->file->name, &root, NULL)) {
        hm__arena_free(arena);
        return NULL;
    }
    *tree = (struct catalog_tree){arena, &root->items[0]};
    if (atomic_compare_exchange_strong(&block->tree, &none, tree))
        return tree->value;
    hm__arena_free(arena);
    return none->value;
}

static size_t count_entries(const struct hm_embedded *file)
{
    size_t count = 0;

    while (file->entries[count].name)
        count++;
    return count;
}

/* Lists the entries of a built-in file, which has one section; `blocks` has room for them. */
static int list_blocks(struct hm_catalog *catalog, enum hm_catalog_kind kind,
                       const struct hm_embedded *file, struct catalog_block *blocks,
                       struct hm_err *err)
{
    size_t count = count_entries(file), old = catalog->counts[kind];
    struct catalog_entry *entries = hm__arena_alloc(catalog->arena, count + old, sizeof(*entries));

    if (!entries)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        blocks[i].entry = &file->entries[i];
        blocks[i].file = file;
        entries[i] = (struct catalog_entry){file->entries[i].name, NULL, &blocks[i]};
    }
    for (size_t i = 0; i < old; i++)
        entries[count + i] = catalog->entries[kind][i];
    catalog->entries[kind] = entries;
    catalog->counts[kind] = count + old;
    return 0;
}

int hm_catalog_new(struct hm_catalog **ret_catalog, struct hm_err *err)
{
    static const struct {
        const char *file;
        enum hm_catalog_kind kind;
    } files[] = {{"machines.yaml", HM_CATALOG_MACHINE},
                 {"fabrics.yaml", HM_CATALOG_FABRIC},
                 {"networks.yaml", HM_CATALOG_NETWORK},
                 {"transformers.yaml", HM_CATALOG_NETWORK},
                 {"accelerators.yaml", HM_CATALOG_ACCELERATOR}};
    int bad = hm__check_pointers(err, "ret_catalog", ret_catalog, NULL);
    if (bad)
        return bad;
    struct hm_catalog *catalog = hm__calloc(1, sizeof(*catalog));
    int rc = 0;

    if (!catalog || !(catalog->arena = hm__arena_new())) {
        hm__free(catalog);
        return hm__fail_nomem(err);
    }
    for (const struct hm_embedded *file = hm__catalog_files; file->name; file++)
        catalog->block_count += count_entries(file);
    struct catalog_block *block =
        hm__arena_alloc(catalog->arena, catalog->block_count, sizeof(*block));
    catalog->blocks = block;
    if (!block) {
        catalog->block_count = 0;
        rc = hm__fail_nomem(err);
    }
    for (const struct hm_embedded *file = hm__catalog_files; rc == 0 && file->name; file++)
        for (size_t i = 0; rc == 0 && i < sizeof(files) / sizeof(files[0]); i++)
            if (strcmp(file->name, files[i].file) == 0) {
                rc = list_blocks(catalog, files[i].kind, file, block, err);
                block += count_entries(file);
            }
    if (rc == 0)
        *ret_catalog = catalog;
    else
        hm_catalog_free(catalog);
    return rc;
}

void hm_catalog_free(struct hm_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->block_count; i++) {
        struct catalog_tree *tree = atomic_load(&catalog->blocks[i].tree);
        if (tree)
            hm__arena_free(tree->arena);
    }
    hm__arena_free(catalog->arena);
    hm__free(catalog);
}

/* Returns the length of a line without its line break. */
static size_t line_length(const char *text, const char *end)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    return (size_t)((stop ? stop : end) - text);
}

/* Finds the line of a built-in entry that begins with a key, such as "    accelerator:", without
 * parsing the entry. Returns the text after the key, whose length is *ret_length, or NULL if there
 * is no such line. */
static const char *block_find_key(const struct catalog_block *block, const char *key,
                                  size_t *ret_length)
{
    const char *text = block->file->text + block->entry->at, *end = text + block->entry->length;
    size_t size = strlen(key);

    for (const char *line = text; line < end; line += line_length(line, end) + 1)
        if ((size_t)(end - line) > size && memcmp(line, key, size) == 0) {
            *ret_length = line_length(line, end) - size;
            return line + size;
        }
    return NULL;
}

/* Returns whether `name` is an alias of an entry, ignoring case. */
static bool entry_has_alias(const struct catalog_entry *entry, const char *name)
{
    /* An entry is parsed only if its line of aliases contains the name. */
    if (entry->block && !strcasestr(entry->block->entry->aliases, name))
        return false;
    const struct hm_value *aliases = hm__value_get(entry_value(entry), "aliases");

    for (size_t i = 0; aliases && aliases->kind == HM_VALUE_LIST && i < aliases->count; i++)
        if (aliases->items[i].kind == HM_VALUE_SCALAR &&
            strcasecmp(aliases->items[i].text, name) == 0)
            return true;
    return false;
}

/* Finds an entry by its exact name, or else by its name in another case, or else by an alias. */
static const struct catalog_entry *entry_find(const struct hm_catalog *catalog,
                                              enum hm_catalog_kind kind, const char *name)
{
    const struct catalog_entry *entries = catalog->entries[kind];

    for (size_t i = 0; i < catalog->counts[kind]; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    for (size_t i = 0; i < catalog->counts[kind]; i++)
        if (strcasecmp(entries[i].name, name) == 0)
            return &entries[i];
    for (size_t i = 0; i < catalog->counts[kind]; i++)
        if (entry_has_alias(&entries[i], name))
            return &entries[i];
    return NULL;
}

bool hm__catalog_may_hold_several(const struct hm_catalog *catalog, size_t machine,
                                  const char *accelerator)
{
    const struct catalog_entry *entry = &catalog->entries[HM_CATALOG_MACHINE][machine];
    size_t length = 0;
    const char *text =
        entry->block ? block_find_key(entry->block, "    accelerator: ", &length) : NULL;
    size_t unused;
    char name[64];

    if (entry->block && !block_find_key(entry->block, "    accelerators: ", &unused))
        return false;
    if (!text || length >= sizeof(name))
        return true;
    memcpy(name, text, length);
    name[length] = '\0';
    const struct catalog_entry *own = entry_find(catalog, HM_CATALOG_ACCELERATOR, name);
    return !own || own == entry_find(catalog, HM_CATALOG_ACCELERATOR, accelerator);
}

const struct hm_value *hm__catalog_find(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                        const char *name)
{
    const struct catalog_entry *entry = entry_find(catalog, kind, name);
    return entry ? entry_value(entry) : NULL;
}

const char *hm_catalog_name(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                            size_t index)
{
    return index < hm_catalog_count(catalog, kind) ? catalog->entries[kind][index].name : NULL;
}

size_t hm_catalog_count(const struct hm_catalog *catalog, enum hm_catalog_kind kind)
{
    return catalog && (unsigned)kind < HM_CATALOG_KINDS ? catalog->counts[kind] : 0;
}

struct name_list {
    const struct hm_catalog *catalog;
    enum hm_catalog_kind kind;
};

static const char *entry_name(const void *context, size_t i)
{
    const struct name_list *list = context;
    return hm_catalog_name(list->catalog, list->kind, i);
}

/* Lists up to four entries whose names contain the text, such as "dgx-h100, p5.48xlarge". */
static void list_containing(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                            const char *name, char *text, size_t room)
{
    size_t used = 0, listed = 0;

    text[0] = '\0';
    for (size_t i = 0; i < catalog->counts[kind] && listed < 4 && used < room; i++) {
        const char *entry = catalog->entries[kind][i].name;
        if (!strstr(entry, name))
            continue;
        used += (size_t)snprintf(text + used, room - used, "%s%s", listed ? ", " : "", entry);
        listed++;
    }
}

bool hm__catalog_has_similar(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                             const char *name)
{
    const struct name_list list = {catalog, kind};
    char containing[200];

    list_containing(catalog, kind, name, containing, sizeof(containing));
    return containing[0] || hm__suggest(name, entry_name, &list);
}

int hm__catalog_unknown(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                        const char *name, struct hm_err *err)
{
    const struct name_list list = {catalog, kind};

    /* If the entry exists, it was not found because there was no memory to parse its text. */
    if (entry_find(catalog, kind, name))
        return hm__fail_nomem(err);
    hm__fail(err, HM_E_NAME, "no %s '%.80s' in the catalog", singular[kind], name);
    const char *near = hm__suggest(name, entry_name, &list);
    char containing[200];
    list_containing(catalog, kind, name, containing, sizeof(containing));
    if (near)
        hm__err_hint(err, "did you mean %s?", near);
    else if (containing[0])
        hm__err_hint(err, "names that contain it: %s", containing);
    else if (kind == HM_CATALOG_NETWORK)
        hm__err_hint(err,
                     "the catalog has, for example, %s; of other networks give the totals: "
                     "{parameters: 7e9, forward: 14 Tflop}",
                     hm_catalog_name(catalog, kind, 0));
    else if (kind == HM_CATALOG_FABRIC)
        hm__err_hint(err, "give a rate such as 100 Gbit/s, or a name such as 100gbe");
    else if (catalog->counts[kind] > 0)
        hm__err_hint(err, "the catalog has, for example, %s", hm_catalog_name(catalog, kind, 0));
    return HM_E_NAME;
}

int hm__catalog_unknown_machine(const struct hm_catalog *catalog, const char *name,
                                struct hm_err *err)
{
    if (entry_find(catalog, HM_CATALOG_ACCELERATOR, name))
        return hm__fail_nomem(err);
    return hm__catalog_unknown(catalog, HM_CATALOG_MACHINE, name, err);
}

int hm_catalog_machine(const struct hm_catalog *catalog, const char *name,
                       struct hm_cluster **ret_cluster, struct hm_err *err)
{
    int bad =
        hm__check_pointers(err, "catalog", catalog, "name", name, "ret_cluster", ret_cluster, NULL);
    if (bad)
        return bad;
    const struct hm_value *entry = hm__catalog_find(catalog, HM_CATALOG_MACHINE, name);
    if (!entry)
        entry = hm__catalog_find(catalog, HM_CATALOG_ACCELERATOR, name);
    if (!entry)
        return hm__catalog_unknown_machine(catalog, name, err);
    struct hm_arena *arena = hm__arena_new();
    struct hm_cluster *cluster = arena ? hm__arena_alloc(arena, 1, sizeof(*cluster)) : NULL;
    struct hm_reader reader = {.arena = arena, .catalog = catalog, .err = err};
    if (arena)
        hm__reader_enter(&reader, name);
    int rc = cluster ? hm__read_machine(&reader, entry, name, cluster) : hm__fail_nomem(err);
    if (rc == 0 && !(cluster->fabric.bandwidth_bytes_per_s > 0) &&
        entry == hm__catalog_find(catalog, HM_CATALOG_ACCELERATOR, name))
        cluster->max_nodes = 1; /* An accelerator that is not part of a machine has no fabric, so it
                                   is a single node. */
    if (rc) {
        hm__arena_free(arena);
        return rc;
    }
    cluster->memory = arena;
    *ret_cluster = cluster;
    return 0;
}

int hm_catalog_fabric(const struct hm_catalog *catalog, const char *name, struct hm_link *ret_link,
                      struct hm_err *err)
{
    int bad = hm__check_pointers(err, "catalog", catalog, "name", name, "ret_link", ret_link, NULL);
    if (bad)
        return bad;
    const struct hm_value *entry = hm__catalog_find(catalog, HM_CATALOG_FABRIC, name);
    struct hm_reader reader = {.err = err};
    struct hm_link link = {0};

    if (!entry)
        return hm__catalog_unknown(catalog, HM_CATALOG_FABRIC, name, err);
    hm__reader_enter(&reader, name);
    int rc = hm__read_link(&reader, entry, &link);
    if (rc == 0)
        *ret_link = link;
    return rc;
}

const char *hm_catalog_text(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                            const char *name, const char *key)
{
    if (!catalog || !name || !key || (unsigned)kind >= HM_CATALOG_KINDS)
        return NULL;
    const struct hm_value *value = hm__value_get(hm__catalog_find(catalog, kind, name), key);
    return value && value->kind == HM_VALUE_SCALAR ? value->text : NULL;
}

bool hm_example(size_t i, const char **ret_name, const char **ret_text, size_t *ret_length)
{
    if (!ret_name || !ret_text || !ret_length)
        return false;
    for (size_t k = 0; k <= i; k++)
        if (!hm__example_files[k].name)
            return false;
    *ret_name = hm__example_files[i].name;
    *ret_text = hm__example_files[i].text;
    *ret_length = hm__example_files[i].length;
    return true;
}

int hm__reader_catalog(struct hm_reader *reader, const struct hm_catalog **ret_catalog)
{
    if (!reader->catalog && !reader->made) {
        int rc = hm_catalog_new(&reader->made, reader->err);
        if (rc)
            return rc;
    }
    *ret_catalog = reader->catalog ? reader->catalog : reader->made;
    return 0;
}

void hm__reader_release(struct hm_reader *reader)
{
    hm_catalog_free(reader->made);
    reader->made = NULL;
}
