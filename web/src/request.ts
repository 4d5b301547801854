// Building requests from the values of a view. Pure functions.
import type { Values } from './link';

/** The fields of a request T that have a value in the view. The values are not checked here: the server does that. */
export function given<T>(values: Values, fields: (keyof T & string)[]): Partial<T> {
  return Object.fromEntries(fields.filter((field) => values[field]).map((field) => [field, values[field]])) as Partial<T>;
}

/** A number that was entered without a unit, with the unit of its input; other texts as they are. */
export function withUnit(text: string, before: string, after: string): string {
  return /^[0-9.]+(e[+-]?\d+)?$/i.test(text.trim()) ? before + text.trim() + after : text;
}

/** A path with the given fields of a request as its query; a list repeats its key. */
export function withQuery<T extends object>(path: string, request: T): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(request))
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) query.append(key, String(item));
  const text = query.toString();
  return text ? path + '?' + text : path;
}
