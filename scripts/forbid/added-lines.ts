import { gitOutput, isCheckout } from './git.ts';

/** Numbers of lines by path. */
export type LinesByPath = ReadonlyMap<string, ReadonlySet<number>>;

export interface ChangedLines {
  readonly added: LinesByPath;
  /** Texts of lines that are gone, without indentation. A line that was moved is here and in `added`. */
  readonly gone: ReadonlySet<string>;
}

/**
 * Lines that changed since the commit that last changed a file, including uncommitted work. Null without git. Files
 * that git does not know have no lines here.
 */
export function changedSince(root: string, file: string): ChangedLines | null {
  if (!isCheckout(root)) return null;
  const commit = gitOutput(root, 'log', '-1', '--format=%H', '--', file)?.trim() ?? '';
  if (commit === '') return null;
  const diff = gitOutput(
    root,
    'diff',
    '--unified=0',
    '--no-color',
    '--no-ext-diff',
    '-M',
    '--no-prefix',
    commit,
  );
  return diff === null ? null : changedLines(diff);
}

/** Reads a diff without context and without prefixes of paths. */
export function changedLines(diff: string): ChangedLines {
  const added = new Map<string, Set<number>>();
  const gone = new Set<string>();
  let lines = new Set<number>();
  for (const line of diff.split('\n')) {
    const path = /^\+\+\+ (.+?)\t?$/u.exec(line)?.[1];
    if (path !== undefined) {
      lines = new Set();
      added.set(path, lines);
    } else if (line.startsWith('-')) gone.add(line.slice(1).trim());
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/u.exec(line) ?? [];
    for (let nth = 0; from !== undefined && nth < Number(count); nth++) lines.add(Number(from) + nth);
  }
  return { added, gone };
}
