// Requests to the server. Paths are relative, so that the page also works behind a proxy that adds a path prefix.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from './types.gen';

export interface Ask {
  path: string;
  body?: unknown;
  /** Content type of a body that is a text or a file; without it the body is sent as JSON. */
  type?: string;
  /** The response is plain text, not JSON. */
  text?: boolean;
}

const tokenKey = 'howmany-token';
let tokenListener: ((refused: boolean) => void) | null = null;

/** Sets the function that is called when the server needs a token, or refused the one that was sent. */
export function onToken(listener: (refused: boolean) => void): void {
  tokenListener = listener;
}

export function setToken(token: string): void {
  sessionStorage.setItem(tokenKey, token);
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'title' in value;
}

/** A problem that the page itself found, without a problem document of the server. */
function ownProblem(status: number, title: string, hint?: string): Problem {
  return { type: 'about:blank', status, title, hint };
}

/** Sends one request and returns its answer. Throws a Problem, or an AbortError. */
export async function ask<T>(request: Ask, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  const token = sessionStorage.getItem(tokenKey);
  if (token) headers['Authorization'] = 'Bearer ' + token;
  const init: RequestInit = { headers, signal };
  if (request.body !== undefined) {
    init.method = 'POST';
    init.body = request.body instanceof Blob ? request.body : request.type ? String(request.body) : JSON.stringify(request.body);
    headers['Content-Type'] = request.type ?? 'application/json';
  }
  let response: Response;
  try {
    response = await fetch(request.path, init);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw ownProblem(0, 'The server does not respond.', 'Check that it is running.');
  }
  if (response.status === 401) tokenListener?.(token !== null);
  const text = await response.text();
  if (request.text && response.ok) return text as T;
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    if (response.ok) throw ownProblem(0, 'The response is not valid JSON.');
  }
  if (response.ok) return value as T;
  throw isProblem(value) ? { ...value, status: response.status } : ownProblem(response.status, `The server responded with status ${response.status}.`);
}

/** Whether a request failed because the server has no store. */
export function hasNoStore(problem: Problem | null): boolean {
  return problem !== null && problem.status === 501;
}

export interface Answer<T> {
  value: T | null;
  problem: Problem | null;
  busy: boolean;
}

/**
 * The answer to a request that changes over time. While a slider is dragged, at most one request is
 * sent every `pace` milliseconds, always with the latest state; the first one is sent at once. A new request aborts the previous
 * one, so the last answer wins. The old answer stays until a new one arrives, also beside a problem. A change of
 * `again` sends the same request once more. `get` is what asks, if one request is not enough.
 */
export function useAnswer<T>(request: Ask | null, again = 0, pace = 60, get: (request: Ask, signal?: AbortSignal) => Promise<T> = ask): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, problem: null, busy: request !== null });
  const latest = useRef<Ask | null>(request);
  const timer = useRef(0);
  const control = useRef<AbortController | null>(null);
  const asked = useRef(false);
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
      get(latest.current, own.signal).then(
        (value) => control.current === own && setAnswer({ value, problem: null, busy: false }),
        (problem: Problem | Error) =>
          control.current === own &&
          !(problem instanceof Error && problem.name === 'AbortError') &&
          setAnswer((old) => ({ value: old.value, problem: problem as Problem, busy: false })),
      );
    }, asked.current ? pace : 0);
    asked.current = true;
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

/** The answers to several requests, each null until it is there; a change of the requests asks again after a pause. */
export function useAnswers<T>(requests: Ask[]): (T | null)[] {
  const [answers, setAnswers] = useState<(T | null)[]>([]);
  const key = JSON.stringify(requests);
  useEffect(() => {
    const own = new AbortController();
    const timer = window.setTimeout(() => {
      void Promise.all(requests.map((request) => ask<T>(request, own.signal).catch(() => null))).then((values) => {
        if (!own.signal.aborted) setAnswers(values);
      });
    }, 200);
    return () => {
      window.clearTimeout(timer);
      own.abort();
    };
  }, [key]);
  return requests.length ? answers : [];
}
