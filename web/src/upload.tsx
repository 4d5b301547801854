// Opening a file of the user, also one compressed with gzip. Its text stays in the page; nothing is sent here.
import { useState } from 'preact/hooks';

interface Props {
  id: string;
  label: string;
  accept: string;
  onText?: (text: string, name: string) => void;
  /** Called with the file itself instead of its text. */
  onFile?: (file: File) => Promise<void>;
}

export async function textOf(file: File): Promise<string> {
  if (!/\.gz$/.test(file.name)) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

export function Upload({ id, label, accept, onText, onFile }: Props) {
  const [status, setStatus] = useState('');
  const [over, setOver] = useState(false);
  const read = async (file: File | undefined) => {
    if (!file) return;
    if (onFile) return onFile(file);
    try {
      const text = await textOf(file);
      onText?.(text, file.name);
      setStatus(`${file.name}: ${text.trimEnd().split('\n').length} lines`);
    } catch {
      setStatus(`${file.name} cannot be read.`);
    }
  };
  const choose = async (input: HTMLInputElement) => {
    await read(input.files?.[0]);
    input.value = ''; // The same file can then be chosen again.
  };
  return (
    <div
      class={'field drop' + (over ? ' over' : '')}
      onDragOver={(e) => { e.preventDefault(); setOver(true); }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => { e.preventDefault(); setOver(false); void read(e.dataTransfer?.files[0]); }}
    >
      <label for={id}>{label}</label>
      <input id={id} type="file" accept={accept} onChange={(e) => void choose(e.currentTarget)} />
      <small role="status">{status}</small>
    </div>
  );
}
