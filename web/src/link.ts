// The state of a view in the fragment of the address (#plan?job=…&batch=…), so that a link shows
// the same view again. Values are the texts of the inputs; empty ones are left out.

export const viewNames = ['plan', 'recommend', 'runs', 'algorithm'] as const;
export type ViewName = (typeof viewNames)[number];
export type Values = Record<string, string>;

export interface Link {
  view: ViewName;
  values: Values;
}

/** Texts longer than this are left out of the link, because browsers and mail programs cut longer addresses. */
export const linkLimit = 16000;

/** Keys of links that version 0.1 wrote, and what they are called now. */
const renamed = new Map([['max', 'max_n']]);

export function readLink(hash: string): Link {
  const text = hash.replace(/^#\/?/, '');
  const mark = text.indexOf('?');
  const name = mark < 0 ? text : text.slice(0, mark);
  const values: Values = {};
  if (mark >= 0)
    new URLSearchParams(text.slice(mark + 1)).forEach((value, key) => {
      if (value !== '') values[renamed.get(key) ?? key] = value;
    });
  const view = viewNames.find((known) => known === name);
  return { view: view ?? 'plan', values: view ? values : {} };
}

export function writeLink(link: Link): string {
  const query = new URLSearchParams();
  for (const key of Object.keys(link.values).sort()) {
    const value = link.values[key];
    if (value !== undefined && value !== '' && value.length <= linkLimit) query.set(key, value);
  }
  const text = query.toString();
  return '#' + link.view + (text ? '?' + text : '');
}

/** Whether the link leaves out a value because it is too long. */
export function isCut(link: Link): boolean {
  return Object.values(link.values).some((value) => value.length > linkLimit);
}

/** The values after some changes; an empty text removes a value. */
export function change(values: Values, changes: Values): Values {
  const next = { ...values, ...changes };
  for (const key of Object.keys(next)) if (next[key] === '') delete next[key];
  return next;
}
