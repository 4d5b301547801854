// Commands that run on the machine of the server (bench, study, steer, compare), with their progress.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from './api';
import { plain, time } from './format';
import type { Progress, ProgressTask } from './types.gen';
import { Table, type Column } from './ui';

/** Milliseconds between two questions to the server. */
const pace = 1500;
/** A command that reported nothing for so many seconds is shown as silent. */
const silentAfter = 60;

const columns: Column[] = [
  { key: 'n', label: 'workers', number: true },
  { key: 'seconds', label: 'measured', number: true, text: time },
];

/** What a command does at the moment, how long it has run, and how long it will take. */
export function taskLine(task: ProgressTask): string {
  const parts = [task.message, `running for ${time(task.elapsed_s)}`];
  if (task.left_s !== null) parts.push(`about ${time(task.left_s)} left`);
  if (task.silent_s > silentAfter) parts.push(`last report ${time(task.silent_s)} ago`);
  return parts.filter(Boolean).join(' · ');
}

function Task({ task }: { task: ProgressTask }) {
  const share = task.total ? Math.min(task.done / task.total, 1) : undefined;
  const label = share === undefined ? 'progress is not known' : `${plain(100 * share, 2)} %`;
  return (
    <article class="task">
      <h3>{task.command} <code>{task.title}</code></h3>
      <p class="row"><progress max={1} value={share} aria-label={`Progress of ${task.command}`} /> <span>{label}</span></p>
      <p class="soft" data-test="task-line">{taskLine(task)}</p>
      {task.points.length ? <Table name={`the latest measurements of ${task.command}`} columns={columns} rows={task.points.map((p) => ({ ...p })).reverse()} still /> : null}
    </article>
  );
}

/** The running commands; nothing if there are none. `onEnded` is called when one of them has ended. */
export function Running({ onEnded }: { onEnded: () => void }) {
  const [tasks, setTasks] = useState<ProgressTask[]>([]);
  const count = useRef(0);
  useEffect(() => {
    const own = new AbortController();
    let timer = 0;
    const look = async () => {
      try {
        if (!document.hidden) {
          const answer = await ask<Progress>({ path: 'v1/progress' }, own.signal);
          setTasks(answer.tasks);
          if (answer.tasks.length < count.current) onEnded();
          count.current = answer.tasks.length;
        }
      } catch {
        // The other requests of the view report what is wrong with the server.
      }
      if (!own.signal.aborted) timer = window.setTimeout(() => void look(), pace);
    };
    void look();
    return () => {
      own.abort();
      window.clearTimeout(timer);
    };
  }, []);
  if (!tasks.length) return null;
  return (
    <section class="card" aria-label="Running now">
      <h2>Running now</h2>
      {tasks.map((task, i) => <Task key={i} task={task} />)}
    </section>
  );
}
