// The frame of the page: the current view, its state in the address, the link to it, and the input for a token.
import { useEffect, useRef, useState } from 'preact/hooks';
import { onToken, setToken } from './api';
import { AlgorithmView } from './algorithm';
import { change, isCut, readLink, viewNames, writeLink, type Link, type Values, type ViewName } from './link';
import { PlanView } from './plan';
import { RecommendView } from './recommend';
import { RunsView } from './runs';

const titles: Record<ViewName, string> = {
  plan: 'How many?',
  recommend: 'Recommend',
  runs: 'Runs',
  algorithm: 'Which algorithm?',
};

const leads: Record<ViewName, string> = {
  plan: 'How many machines, how long, how much, and why. Nothing is run: the answer comes from the description of the job.',
  recommend: 'How many workers to use for a batch and a latency, from recorded runs.',
  runs: 'The recorded runs, and how well a fit of the other runs predicts each of them.',
  algorithm: 'Which algorithm reaches a loss first, and on how many workers, from traces of runs.',
};

function Share({ link }: { link: Link }) {
  const [status, setStatus] = useState('');
  const [address, setAddress] = useState('');
  useEffect(() => setAddress(''), [writeLink(link)]);
  const copy = async () => {
    const whole = location.href.split('#')[0] + writeLink(link);
    try {
      await navigator.clipboard.writeText(whole);
      setStatus(isCut(link) ? 'Copied, without the pasted data: it is too long for a link.' : 'Copied.');
    } catch {
      setAddress(whole);
      setStatus('Copy it from here:');
    }
    window.setTimeout(() => setStatus(''), 6000);
  };
  return (
    <div class="share">
      <button type="button" onClick={copy}>Copy link to this view</button>
      <span role="status">{status}</span>
      {address ? <input type="text" readOnly value={address} aria-label="Link to this view" onFocus={(e) => e.currentTarget.select()} /> : null}
    </div>
  );
}

function Token({ refused, onDone }: { refused: boolean; onDone: () => void }) {
  const [token, set] = useState('');
  const submit = (e: Event) => {
    e.preventDefault();
    setToken(token.trim());
    onDone();
  };
  return (
    <form class="card wrong" onSubmit={submit}>
      <label for="token">{refused ? 'The server refused the token. Enter another one:' : 'This server needs a token:'}</label>{' '}
      <input id="token" type="password" autocomplete="off" value={token} onInput={(e) => set(e.currentTarget.value)} />{' '}
      <button type="submit">Use it</button>
      <p class="soft">The token is kept until this tab is closed.</p>
    </form>
  );
}

export function App() {
  const [link, setLink] = useState<Link>(() => readLink(location.hash));
  const [token, askToken] = useState<'no' | 'needed' | 'refused'>('no');
  const [round, setRound] = useState(0);
  /** The values of each view that was visited, for the links of the navigation. */
  const visited = useRef<Partial<Record<ViewName, Values>>>({});
  const main = useRef<HTMLElement>(null);

  visited.current[link.view] = link.values;
  useEffect(() => {
    onToken((refused) => askToken(refused ? 'refused' : 'needed'));
    const listen = () => setLink(readLink(location.hash));
    window.addEventListener('hashchange', listen);
    return () => window.removeEventListener('hashchange', listen);
  }, []);
  useEffect(() => {
    document.title = titles[link.view] + ' – howmany';
  }, [link.view]);
  const onChange = (changes: Values) =>
    setLink((old) => {
      const next = { view: old.view, values: change(old.values, changes) };
      history.replaceState(null, '', writeLink(next));
      return next;
    });
  const View = { plan: PlanView, recommend: RecommendView, runs: RunsView, algorithm: AlgorithmView }[link.view];
  return (
    <>
      <header>
        <a class="skip" href={writeLink(link)} onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
        <p class="brand">howmany</p>
        <nav aria-label="Views">
          {viewNames.map((name) => (
            <a key={name} href={writeLink({ view: name, values: visited.current[name] ?? {} })} aria-current={name === link.view ? 'page' : undefined}>
              {titles[name]}
            </a>
          ))}
        </nav>
      </header>
      <main ref={main} tabIndex={-1}>
        <div class="lead">
          <h1>{titles[link.view]}</h1>
          <p class="soft">{leads[link.view]}</p>
          <Share link={link} />
        </div>
        {token !== 'no' ? <Token refused={token === 'refused'} onDone={() => { askToken('no'); setRound(round + 1); }} /> : null}
        <View key={link.view + round} values={link.values} onChange={onChange} />
      </main>
      <footer class="soft">
        <a href="openapi.json">The API</a> gives the same answers to programs. Quantities are in SI units there.
      </footer>
    </>
  );
}
