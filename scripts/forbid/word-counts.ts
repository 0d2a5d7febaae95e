import type { Offence } from './plain-text.ts';

/** Offences of a folder's files. */
export interface Counts {
  readonly words: number;
  readonly starts: number;
}

/** Counts by folder; a folder without offences has none. */
export type FolderCounts = Readonly<Record<string, Counts>>;

export interface FileOffences {
  readonly path: string;
  readonly offences: readonly Offence[];
}

/** One room of the code or its tests, so that moves within a room change no count; `.` has the files at the top. */
export function folderOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  const [first = '.', second] = folders;
  if (first === 'bench' || first === 'scripts') return first;
  const depth = first === 'test' && (second === 'unit' || second === 'integration') ? 3 : 2;
  return folders.length === 0 ? '.' : folders.slice(0, depth).join('/');
}

export function countsOf(files: readonly FileOffences[]): FolderCounts {
  const counts: Record<string, Counts> = {};
  for (const { path, offences } of files) {
    if (offences.length === 0) continue;
    const folder = folderOf(path);
    const { words, starts } = counts[folder] ?? { words: 0, starts: 0 };
    const added = offences.filter(({ kind }) => kind === 'words').length;
    counts[folder] = { words: words + added, starts: starts + offences.length - added };
  }
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function totalOf(counts: FolderCounts): Counts {
  let [words, starts] = [0, 0];
  for (const folder of Object.values(counts)) {
    words += folder.words;
    starts += folder.starts;
  }
  return { words, starts };
}

export interface Changes {
  /** Folders with more words or more starts than stored. */
  readonly higher: readonly string[];
  /** Folders with fewer of one, and more of neither. */
  readonly lower: readonly string[];
}

export function changesOf(stored: FolderCounts, counted: FolderCounts): Changes {
  const none = { words: 0, starts: 0 };
  const higher: string[] = [];
  const lower: string[] = [];
  for (const folder of new Set([...Object.keys(stored), ...Object.keys(counted)])) {
    const [before, now] = [stored[folder] ?? none, counted[folder] ?? none];
    if (now.words > before.words || now.starts > before.starts) higher.push(folder);
    else if (now.words < before.words || now.starts < before.starts) lower.push(folder);
  }
  return { higher, lower };
}

/** A line for each folder, so that two changes of different folders can be merged. */
export function storedText(counts: FolderCounts): string {
  const rows = Object.entries(counts).map(
    ([folder, { words, starts }]) =>
      `  ${JSON.stringify(folder)}: { "words": ${words}, "starts": ${starts} }`,
  );
  return rows.length === 0 ? '{}\n' : `{\n${rows.join(',\n')}\n}\n`;
}
