// A file of one's own, also packed with gzip; its text goes into the page, nowhere else.
import { useState } from 'preact/hooks';

interface Props {
  id: string;
  label: string;
  accept: string;
  onText: (text: string, name: string) => void;
}

export async function textOf(file: File): Promise<string> {
  if (!/\.gz$/.test(file.name)) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

export function Upload({ id, label, accept, onText }: Props) {
  const [said, setSaid] = useState('');
  const read = async (file: File | undefined) => {
    if (!file) return;
    try {
      const text = await textOf(file);
      onText(text, file.name);
      setSaid(`${file.name}: ${text.trimEnd().split('\n').length} lines`);
    } catch {
      setSaid(`${file.name} cannot be read.`);
    }
  };
  const choose = async (input: HTMLInputElement) => {
    await read(input.files?.[0]);
    input.value = ''; // so that the same file can be chosen again
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="file" accept={accept} onChange={(e) => void choose(e.currentTarget)} />
      <small role="status">{said}</small>
    </div>
  );
}
