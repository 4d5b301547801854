// A chart on the screen, drawn by uPlot, with its summary, its table and its download.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { chartSvg } from './chart_svg';
import { paths, placeLabels, type Line, type Spec } from './chart_spec';
import { Download, Table, type Column } from './ui';
import type { Row } from './format';

const height = 280;

function variable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function series(line: Line): uPlot.Series {
  const colour = variable('--line-' + line.colour);
  return {
    label: line.label,
    stroke: colour,
    width: line.points || line.edge ? 0 : 2,
    dash: line.dashed ? [6, 5] : undefined,
    spanGaps: true,
    paths: line.points ? () => null : undefined,
    points: { show: !!line.points, size: 6, fill: colour, stroke: colour },
  };
}

function axis(label: string, text: (v: number) => string, log: boolean | undefined, side: number): uPlot.Axis {
  return {
    label,
    side,
    labelSize: 22,
    labelFont: '13px system-ui, sans-serif',
    font: '12px system-ui, sans-serif',
    size: side === 3 ? 62 : 36,
    stroke: variable('--soft'),
    grid: { stroke: variable('--grid'), width: 1, ...(log ? { filter: rounds } : {}) },
    ticks: { stroke: variable('--grid'), width: 1, size: 5, ...(log ? { filter: rounds } : {}) },
    ...(log ? { filter: rounds } : {}),
    values: (_u, splits) => splits.map((v) => (v === null ? '' : text(v))),
  };
}

/** On logarithmic axes 1, 2 and 5 times a power of ten get a label, or only the powers of ten where a decade is short. */
function rounds(u: uPlot, splits: number[], index: number): (number | null)[] {
  const { min, max } = u.scales[index === 0 ? 'x' : 'y'] ?? {};
  const length = (index === 0 ? u.bbox.width : 2.5 * u.bbox.height) / (window.devicePixelRatio || 1);
  const leads = length / Math.log10((max ?? 10) / (min ?? 1)) > 110 ? [1, 2, 5] : [1];
  return splits.map((v) => {
    const lead = v / 10 ** Math.floor(Math.log10(v) + 1e-9);
    return leads.some((k) => Math.abs(lead - k) < 1e-6) ? v : null;
  });
}

function drawMarks(u: uPlot, spec: Spec): void {
  const { ctx } = u;
  const ratio = window.devicePixelRatio || 1;
  ctx.save();
  ctx.setLineDash([]);
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  const at = spec.marks
    .map((mark) => ({ mark, under: mark.under, x: u.valToPos(mark.x, 'x', true), y: u.valToPos(mark.y, 'y', true), width: ctx.measureText(mark.label).width }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  for (const { mark, x, y } of at) {
    ctx.beginPath();
    ctx.arc(x, y, 5.5 * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = variable('--card');
    ctx.fill();
    ctx.lineWidth = 2.5 * ratio;
    ctx.strokeStyle = variable('--line-' + mark.colour);
    ctx.stroke();
  }
  const frame = { x: u.bbox.left, y: u.bbox.top, width: u.bbox.width, height: u.bbox.height };
  ctx.textAlign = 'left';
  ctx.lineWidth = 4 * ratio;
  ctx.strokeStyle = variable('--card');
  ctx.fillStyle = variable('--text');
  const lines = paths(spec, (v) => u.valToPos(v, 'x', true), (v) => u.valToPos(v, 'y', true));
  placeLabels(at, frame, 12 * ratio, lines).forEach((spot, i) => {
    const label = at[i]?.mark.label ?? '';
    ctx.strokeText(label, spot.x, spot.y);
    ctx.fillText(label, spot.x, spot.y);
  });
  ctx.restore();
}

/** Shows the numbers under the mouse in a box beside it. */
function moveTip(u: uPlot, spec: Spec, tip: HTMLElement): void {
  const i = u.cursor.idx;
  const left = u.cursor.left ?? -1;
  tip.hidden = i === null || i === undefined || left < 0;
  if (tip.hidden || i === null || i === undefined) return;
  const lines = [`${spec.xText(spec.x[i] as number)} ${spec.xLabel}`];
  for (const mark of spec.marks) if (mark.x === spec.x[i] && spec.lines.every((line) => line.points)) lines[0] = mark.label + ': ' + lines[0];
  for (const line of spec.lines) {
    const value = line.values[i];
    if (value !== null && value !== undefined) lines.push(`${line.label} ${spec.yText(value)}`);
  }
  tip.textContent = lines.join('\n');
  const right = left > u.over.clientWidth / 2;
  tip.style.left = right ? '' : `${u.over.offsetLeft + left + 14}px`;
  tip.style.right = right ? `${u.root.clientWidth - u.over.offsetLeft - left + 14}px` : '';
}

/** The range of the x axis. Where all lines are points, there is a margin at both ends. */
function xRange(spec: Spec, low: number, high: number): [number, number] {
  if (!(high > low)) return spec.xLog ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const margin = spec.lines.every((line) => line.points) ? 0.08 : 0;
  if (!spec.xLog) return [low - margin * (high - low), high + margin * (high - low)];
  return [low * (low / high) ** margin, high * (high / low) ** margin];
}

function options(spec: () => Spec, width: number, tip: HTMLElement): uPlot.Options {
  const now = spec();
  return {
    width,
    height,
    padding: [14, 26, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    legend: { show: false },
    scales: {
      x: { time: false, distr: now.xLog ? 3 : 1, range: (_u, low, high) => xRange(now, low, high) },
      y: {
        distr: now.yLog ? 3 : 1,
        range: now.yLog ? (_u, low, high) => [low / 1.3, high * 1.5] : (_u, low, high) => (high > 0 ? [Math.min(0, low), high * 1.08] : [low, high || 1]),
      },
    },
    axes: [axis(now.xLabel, now.xText, now.xLog, 2), axis(now.yLabel, now.yTick ?? now.yText, now.yLog, 3)],
    series: [{ label: now.xLabel }, ...now.lines.map(series)],
    bands: now.band ? [{ series: [now.band[1] + 1, now.band[0] + 1], fill: variable('--band') }] : undefined,
    hooks: { draw: [(u) => drawMarks(u, spec())], setCursor: [(u) => moveTip(u, spec(), tip)] },
  };
}

/** The properties of a chart that uPlot cannot change later; when they change, a new plot is made. */
function shape(spec: Spec): string {
  return JSON.stringify([spec.xLabel, spec.yLabel, spec.xLog, spec.yLog, spec.lines.map((l) => [l.label, l.colour]), spec.band]);
}

function useDark(): boolean {
  const query = window.matchMedia('(prefers-color-scheme: dark)');
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const listen = () => setDark(query.matches);
    query.addEventListener('change', listen);
    return () => query.removeEventListener('change', listen);
  }, []);
  return dark;
}

function Canvas({ spec }: { spec: Spec }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(spec);
  const dark = useDark();

  latest.current = spec;
  useEffect(() => {
    const parent = box.current;
    if (!parent) return;
    const data = () => [latest.current.x, ...latest.current.lines.map((l) => l.values)] as uPlot.AlignedData;
    const tip = document.createElement('div');
    tip.className = 'tip';
    tip.hidden = true;
    plot.current = new uPlot(options(() => latest.current, parent.clientWidth || 320, tip), data(), parent);
    plot.current.root.append(tip);
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: parent.clientWidth || 320, height }));
    watch.observe(parent);
    return () => {
      watch.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape(spec), dark]);
  useEffect(() => {
    plot.current?.setData([spec.x, ...spec.lines.map((l) => l.values)] as uPlot.AlignedData);
  }, [spec]);
  return <div class="canvas" ref={box} role="img" aria-label={spec.title + '. ' + spec.summary} />;
}

function Legend({ lines: all }: { lines: Line[] }) {
  const lines = all.filter((line) => !line.edge);
  if (lines.length < 2) return null;
  return (
    <ul class="legend" aria-hidden="true">
      {lines.map((line) => (
        <li key={line.label} class={`key-${line.colour}` + (line.points ? ' dots' : line.dashed ? ' dashes' : '')}>{line.label}</li>
      ))}
    </ul>
  );
}

interface ChartProps {
  spec: Spec;
  /** Columns and rows of the table below the chart. */
  columns: Column[];
  rows: Row[];
  file: string;
}

export function Chart({ spec, columns, rows, file }: ChartProps) {
  return (
    <figure class="card chart">
      <figcaption>
        <h2>{spec.title}</h2>
        <p class="soft">{spec.summary}</p>
      </figcaption>
      <Canvas spec={spec} />
      <Legend lines={spec.lines} />
      <details>
        <summary>Table: {spec.title.toLowerCase()}</summary>
        <Table name={spec.title} columns={columns} rows={rows} />
      </details>
      <p class="row">
        <Download name={file + '.svg'} type="image/svg+xml" text={() => chartSvg(spec)} label="SVG" of={spec.title} />
      </p>
    </figure>
  );
}
