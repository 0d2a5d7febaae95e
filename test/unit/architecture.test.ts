import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Patterns = string | readonly string[] | undefined;
interface Paths {
  readonly path?: Patterns;
  readonly pathNot?: Patterns;
}
interface Rule {
  readonly from: Paths;
  readonly to: Paths;
}

const root = new URL('../../', import.meta.url);
const rulesFile = new URL('.dependency-cruiser.mjs', root).href;
const { default: cruiser } = (await import(rulesFile)) as { default: { forbidden: readonly Rule[] } };
/** Whether a folder has files. Git keeps no empty folder, but a checkout may still have one whose files were moved. */
const hasFiles = (folder: string): boolean =>
  readdirSync(new URL(`${folder}/`, root), { withFileTypes: true, recursive: true }).some((entry) =>
    entry.isFile(),
  );
const foldersOf = (folder: string): string[] =>
  readdirSync(new URL(`${folder}/`, root), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && hasFiles(`${folder}/${entry.name}`) ? [`${folder}/${entry.name}`] : [],
  );

const rooms = ['src', 'indexer', 'search'].flatMap(foldersOf).toSorted();
/** Possible targets of a rule: rooms, and the subjects of the read model. */
const targets = rooms.flatMap((room) => (room === 'src/chain' ? foldersOf(room) : [room]));

interface Row {
  readonly room: string;
  readonly mayImport: string;
}

const rowPattern = /^\| `((?:src|indexer|search)(?:\/[\w-]+)?)` \| .* \| ([^|]*) \|$/u;
/** The rows of the table of rooms in docs/architecture.md, including those of groups. */
const allRows: readonly Row[] = readFileSync(new URL('docs/architecture.md', root), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, room, mayImport] = rowPattern.exec(line) ?? [];
    return room === undefined || mayImport === undefined ? [] : [{ room, mayImport }];
  });
const rows = allRows.filter(({ room }) => room.includes('/'));
/** Rows of groups, by group name. Rooms refer to these names ("as `indexer`"). */
const groups: ReadonlyMap<string, string> = new Map(
  allRows.flatMap(({ room, mayImport }) => (room.includes('/') ? [] : [[room, mayImport]])),
);

const named = (text: string): string[] => [...text.matchAll(/`([^`]+)`/gu)].map(([, name]) => name ?? '');
const isWithin = (target: string, names: readonly string[]): boolean =>
  names.some((name) => target === name || target.startsWith(`${name}/`));

/** Content of a row: its own names or those of its group, and after "but" the excluded names. */
function saidOf({ mayImport }: Row): string[] {
  const [own = '', left = ''] = mayImport.split(' but ');
  const [, group] = /^as `([\w-]+)`$/u.exec(own) ?? [];
  const allowed = group === undefined ? own : (groups.get(group) ?? '');
  return targets.filter((target) => isWithin(target, named(allowed)) && !isWithin(target, named(left)));
}

const matches = (patterns: Patterns, path: string): boolean =>
  [patterns ?? []].flat().some((pattern) => new RegExp(pattern, 'u').test(path));

/** Rules about rooms. Rules about packages, cycles and kinds of dependency are left out. */
const roomRules = cruiser.forbidden.filter(({ to }) =>
  Object.keys(to).every((key) => key === 'path' || key === 'pathNot'),
);

function isForbidden(from: string, to: string): boolean {
  const [source, target] = [`${from}/file.ts`, `${to}/file.ts`];
  return roomRules.some(
    (rule) =>
      matches(rule.from.path, source) &&
      !matches(rule.from.pathNot, source) &&
      (rule.to.path === undefined || matches(rule.to.path, target)) &&
      !matches(rule.to.pathNot, target),
  );
}

test('the table of rooms has a row for each folder, and a folder for each row', () => {
  expect(rows.map(({ room }) => room).toSorted()).toEqual(rooms);
});

test.each(rows)('$room may import what its row says, by the rules that are checked', (row) => {
  const others = targets.filter((target) => !isWithin(target, [row.room]));
  const allowed = others.filter((target) => !isForbidden(row.room, target));
  expect(saidOf(row).filter((target) => !isWithin(target, [row.room]))).toEqual(allowed);
});
