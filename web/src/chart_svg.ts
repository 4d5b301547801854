// A chart as an SVG file that needs no other file, for printing and for documents.
import { paths, place, placeLabels, scale, type Line, type Spec } from './chart_spec';
import { palette } from './types.gen';

const width = 760;
const height = 420;
const left = 78;
const right = 24;
const top = 66;
const bottom = 58;

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

function colourOf(number: number): string {
  return palette[(number - 1) % palette.length] as string;
}

function text(x: number, y: number, content: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(content)}</text>`;
}

function lineSvg(line: Line, x: number[], atX: (v: number) => number, atY: (v: number) => number): string {
  const points = line.values
    .map((value, i) => [x[i] as number, value] as const)
    .filter((p): p is readonly [number, number] => p[1] !== null && Number.isFinite(p[1]));
  const at = points.map(([a, b]) => `${atX(a).toFixed(1)},${atY(b).toFixed(1)}`);
  if (line.edge) return '';
  if (line.points) return points.map(([a, b]) => `<circle cx="${atX(a).toFixed(1)}" cy="${atY(b).toFixed(1)}" r="3" fill="${colourOf(line.colour)}"/>`).join('');
  return `<polyline points="${at.join(' ')}" fill="none" stroke="${colourOf(line.colour)}" stroke-width="2"${line.dashed ? ' stroke-dasharray="6 5"' : ''}/>`;
}

/** The filled area between the two lines of the band. */
function bandSvg(spec: Spec, atX: (v: number) => number, atY: (v: number) => number): string {
  const [low, high] = (spec.band ?? []).map((i) => spec.lines[i]?.values ?? []);
  const points = (values: (number | null)[] = []) => values.flatMap((v, i) => (v === null ? [] : [`${atX(spec.x[i] as number).toFixed(1)},${atY(v).toFixed(1)}`]));
  return `<polygon points="${[...points(low), ...points(high).reverse()].join(' ')}" fill="${palette[0]}" fill-opacity="0.12"/>`;
}

export function chartSvg(spec: Spec): string {
  const xs = scale(spec.x, !!spec.xLog, 8, false);
  const ys = scale([...spec.lines.flatMap((line) => line.values), ...spec.marks.map((mark) => mark.y)], !!spec.yLog, 6, true);
  const atX = (value: number) => left + place(xs, value) * (width - left - right);
  const atY = (value: number) => height - bottom - place(ys, value) * (height - top - bottom);
  const out: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="13" fill="#222">`,
    `<title>${escaped(spec.title)}</title><desc>${escaped(spec.summary)}</desc>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(left, 22, spec.title, 'font-size="16" font-weight="bold"'),
  ];
  for (const tick of ys.ticks) {
    out.push(`<path d="M${left} ${atY(tick).toFixed(1)}H${width - right}" stroke="#ddd"/>`);
    out.push(text(left - 8, atY(tick) + 4, (spec.yTick ?? spec.yText)(tick), 'text-anchor="end"'));
  }
  for (const tick of xs.ticks) {
    out.push(`<path d="M${atX(tick).toFixed(1)} ${height - bottom}v5" stroke="#888"/>`);
    out.push(text(atX(tick), height - bottom + 20, spec.xText(tick), 'text-anchor="middle"'));
  }
  out.push(`<path d="M${left} ${top}V${height - bottom}H${width - right}" fill="none" stroke="#888"/>`);
  out.push(text((left + width - right) / 2, height - 16, spec.xLabel, 'text-anchor="middle"'));
  out.push(text(0, 0, spec.yLabel, `text-anchor="middle" transform="translate(16 ${(top + height - bottom) / 2}) rotate(-90)"`));
  if (spec.band) out.push(bandSvg(spec, atX, atY));
  for (const line of spec.lines) out.push(lineSvg(line, spec.x, atX, atY));
  const at = spec.marks.map((mark) => ({ x: atX(mark.x), y: atY(mark.y), width: 7.6 * mark.label.length, under: mark.under }));
  spec.marks.forEach((mark, i) => out.push(`<circle cx="${at[i]?.x.toFixed(1)}" cy="${at[i]?.y.toFixed(1)}" r="5.5" fill="#fff" stroke="${colourOf(mark.colour)}" stroke-width="2.5"/>`));
  placeLabels(at, { x: left, y: top, width: width - left - right, height: height - top - bottom }, 13, paths(spec, atX, atY)).forEach((spot, i) => out.push(text(spot.x, spot.y, spec.marks[i]?.label ?? '', 'font-weight="bold"')));
  let x = left;
  for (const line of spec.lines) {
    if (line.edge) continue;
    out.push(`<path d="M${x} 42h20" stroke="${colourOf(line.colour)}" stroke-width="3"${line.dashed ? ' stroke-dasharray="6 4"' : ''}/>`, text(x + 26, 46, line.label));
    x += 7 * line.label.length + 44;
  }
  out.push('</svg>');
  return out.join('\n') + '\n';
}
