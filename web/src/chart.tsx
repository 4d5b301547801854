// A chart on the screen, drawn by uPlot, with its summary, its table and its download.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { chartSvg } from './chart_svg';
import type { Line, Spec } from './chart_spec';
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
    width: line.points ? 0 : 2,
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
    values: (_u, splits) => splits.map((v) => (v === null || (log && !isRound(v)) ? '' : text(v))),
  };
}

/** On logarithmic axes only 1, 2 and 5 times a power of ten get a label. */
function isRound(value: number): boolean {
  const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].some((k) => Math.abs(lead - k) < 1e-6);
}

const rounds = (_u: uPlot, splits: number[]) => splits.map((v) => (isRound(v) ? v : null));

function drawMarks(u: uPlot, spec: Spec): void {
  const { ctx } = u;
  const ratio = window.devicePixelRatio || 1;
  ctx.save();
  ctx.setLineDash([]);
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  for (const mark of spec.marks) {
    const x = u.valToPos(mark.x, 'x', true);
    const y = u.valToPos(mark.y, 'y', true);
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    ctx.beginPath();
    ctx.arc(x, y, 5.5 * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = variable('--card');
    ctx.fill();
    ctx.lineWidth = 2.5 * ratio;
    ctx.strokeStyle = variable('--line-' + mark.colour);
    ctx.stroke();
    const wide = ctx.measureText(mark.label).width;
    const end = x + wide + 12 * ratio > u.bbox.left + u.bbox.width;
    const low = y + 24 * ratio > u.bbox.top + u.bbox.height;
    const above = mark.under ? low : low || y - 14 * ratio > u.bbox.top + 10 * ratio;
    ctx.textAlign = end ? 'right' : 'left';
    ctx.lineWidth = 4 * ratio;
    ctx.strokeStyle = variable('--card');
    ctx.fillStyle = variable('--text');
    const at: [number, number] = [x + (end ? -9 : 9) * ratio, above ? y - 10 * ratio : y + 20 * ratio];
    ctx.strokeText(mark.label, ...at);
    ctx.fillText(mark.label, ...at);
  }
  ctx.restore();
}

function options(spec: () => Spec, width: number): uPlot.Options {
  const now = spec();
  return {
    width,
    height,
    padding: [14, 12, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    legend: { show: false },
    scales: {
      x: { time: false, distr: now.xLog ? 3 : 1 },
      y: {
        distr: now.yLog ? 3 : 1,
        range: now.yLog ? undefined : (_u, low, high) => (high > 0 ? [Math.min(0, low), high * 1.08] : [low, high || 1]),
      },
    },
    axes: [axis(now.xLabel, now.xText, now.xLog, 2), axis(now.yLabel, now.yText, now.yLog, 3)],
    series: [{ label: now.xLabel }, ...now.lines.map(series)],
    hooks: { draw: [(u) => drawMarks(u, spec())] },
  };
}

/** The properties of a chart that uPlot cannot change later; when they change, a new plot is made. */
function shape(spec: Spec): string {
  return JSON.stringify([spec.xLabel, spec.yLabel, spec.xLog, spec.yLog, spec.lines.map((l) => [l.label, l.colour])]);
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
    plot.current = new uPlot(options(() => latest.current, parent.clientWidth || 320), data(), parent);
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

function Legend({ lines }: { lines: Line[] }) {
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
