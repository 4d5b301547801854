// Asking the server. Paths are relative, so that the page also works below a path of a proxy.
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Problem {
  status: number;
  title: string;
  detail?: string;
  field?: string;
  hint?: string;
  line?: number;
}

export interface Ask {
  path: string;
  body?: unknown;
  /** Of a body that is a text already. */
  type?: string;
  /** The answer is a text, not JSON. */
  text?: boolean;
}

const tokenKey = 'howmany-token';
let asked: ((refused: boolean) => void) | null = null;

export function onToken(listener: (refused: boolean) => void): void {
  asked = listener;
}

export function setToken(token: string): void {
  sessionStorage.setItem(tokenKey, token);
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'title' in value;
}

/** Throws a Problem, or an AbortError. */
export async function ask<T>(request: Ask, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  const token = sessionStorage.getItem(tokenKey);
  if (token) headers['Authorization'] = 'Bearer ' + token;
  const init: RequestInit = { headers, signal };
  if (request.body !== undefined) {
    init.method = 'POST';
    init.body = request.type ? String(request.body) : JSON.stringify(request.body);
    headers['Content-Type'] = request.type ?? 'application/json';
  }
  let response: Response;
  try {
    response = await fetch(request.path, init);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw { status: 0, title: 'The server does not answer.', hint: 'Does it still run?' } satisfies Problem;
  }
  if (response.status === 401) asked?.(token !== null);
  const text = await response.text();
  if (request.text && response.ok) return text as T;
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    if (response.ok) throw { status: 0, title: 'The answer cannot be read.' } satisfies Problem;
  }
  if (response.ok) return value as T;
  throw isProblem(value) ? { ...value, status: response.status } : { status: response.status, title: 'The server says ' + response.status + '.' };
}

/** Whether the server has no store behind a path. */
export function hasNoStore(problem: Problem | null): boolean {
  return problem !== null && problem.status === 501;
}

export interface Answer<T> {
  value: T | null;
  problem: Problem | null;
  busy: boolean;
}

/**
 * The answer to a question that changes. While somebody drags, a question goes out every `pace`
 * milliseconds at most, always with the latest state; the one before is given up, so that the last
 * answer wins. The old answer stays until the new one is there.
 */
export function useAnswer<T>(request: Ask | null, again = 0, pace = 60): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, problem: null, busy: request !== null });
  const latest = useRef<Ask | null>(request);
  const timer = useRef(0);
  const control = useRef<AbortController | null>(null);
  const key = request ? JSON.stringify(request) : '';

  latest.current = request;
  useEffect(() => {
    if (!request) {
      setAnswer({ value: null, problem: null, busy: false });
      control.current?.abort();
      return;
    }
    setAnswer((old) => ({ ...old, busy: true }));
    if (timer.current) return;
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      control.current?.abort();
      const own = new AbortController();
      control.current = own;
      if (!latest.current) return;
      ask<T>(latest.current, own.signal).then(
        (value) => control.current === own && setAnswer({ value, problem: null, busy: false }),
        (problem: Problem | Error) =>
          control.current === own &&
          !(problem instanceof Error && problem.name === 'AbortError') &&
          setAnswer({ value: null, problem: problem as Problem, busy: false }),
      );
    }, pace);
  }, [key, again]);
  useEffect(
    () => () => {
      window.clearTimeout(timer.current);
      control.current?.abort();
      control.current = null;
    },
    [],
  );
  return answer;
}
