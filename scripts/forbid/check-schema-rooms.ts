import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Outcome } from './check-words.ts';
import { chainRooms, type SharedTables, serviceRooms, sharedTables } from './schema-rooms.ts';

/** A table named in a statement. */
export interface NamedTable {
  /** From 1. */
  readonly line: number;
  /** `schema.table`, or `schema.*` if the text does not name the table. */
  readonly name: string;
}

/** Finds the tables that are named in string literals of a source file. Comments and property accesses are not SQL. */
export function namedTables(path: string, text: string): NamedTable[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const named: NamedTable[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const start = node.getStart(source);
      const raw = text.slice(start, node.end);
      for (const { offset, name } of namesIn(raw)) {
        const { line } = source.getLineAndCharacterOfPosition(start + offset);
        named.push({ line: line + 1, name });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return named;
}

function* namesIn(raw: string): Generator<{ offset: number; name: string }> {
  for (const { 1: schema, 2: table, index } of raw.matchAll(/(?<![\w./#-])(chain|service)\.(\w+|\$\{)/gu))
    yield { offset: index, name: `${schema}.${table === '${' ? '*' : table}` };
  for (const { 0: whole, index } of raw.matchAll(
    /\bSCHEMA\s+(?:chain|service)(?:\s*,\s*(?:chain|service))*/gu,
  ))
    for (const [schema] of whole.matchAll(/chain|service/gu)) yield { offset: index, name: `${schema}.*` };
  // in statements about the catalog, schema names are string literals
  if (/nspname|regnamespace/u.test(raw))
    for (const { 1: schema, index } of raw.matchAll(/'(chain|service)'/gu))
      yield { offset: index, name: `${schema}.*` };
}

/** The room of a file, which is `indexer`, `search`, or a folder of `src`. */
export function roomOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'src' && second.includes('.') ? 'src' : first === 'src' ? `src/${second}` : first;
}

export interface Owners {
  readonly chainRooms: readonly string[];
  readonly serviceRooms: Readonly<Record<string, string>>;
  readonly sharedTables: readonly SharedTables[];
}

/** The permission of an entry: a room or file, and the tables that it may name. */
const allowedBy = (shared: SharedTables): (readonly [place: string, names: readonly string[]])[] =>
  'names' in shared
    ? [[shared.room, shared.names]]
    : Object.entries(shared.files).map(([file, names]) => [`${shared.room}/${file}`, names]);

/** The entry that lets a file name a table of another room, or null if there is none. */
function entryFor(path: string, name: string, tables: readonly SharedTables[]): string | null {
  for (const [place, names] of tables.flatMap(allowedBy)) {
    if (place !== roomOf(path) && place !== path) continue;
    const entry = [name, `${name.split('.')[0]}.*`].find((one) => names.includes(one));
    if (entry !== undefined) return `${place} ${entry}`;
  }
  return null;
}

/** The reason why a file may not name a table, or null if it may. Adds the entry that allows it to `used`. */
function refusal(path: string, name: string, owners: Owners, used: Set<string>): string | null {
  const room = roomOf(path);
  const [schema = '', table = ''] = name.split('.');
  const owner = schema === 'chain' ? null : (owners.serviceRooms[table] ?? null);
  if (schema === 'chain' ? owners.chainRooms.includes(room) : owner === room) return null;
  const entry = entryFor(path, name, owners.sharedTables);
  if (entry !== null) {
    used.add(entry);
    return null;
  }
  if (schema === 'chain') return `ask ${owners.chainRooms.join(', ')} by a named function`;
  return owner === null ? 'no room owns it: add it to serviceRooms' : `ask ${owner} by a named function`;
}

/** Faults of source files, by path, and entries that no file needs. `known` are the names in the schema's dump. */
export function schemaFaults(
  files: Readonly<Record<string, string>>,
  known: ReadonlySet<string>,
  owners: Owners,
): string[] {
  const used = new Set<string>();
  const faults: string[] = [];
  for (const [path, text] of Object.entries(files))
    for (const { line, name } of namedTables(path, text)) {
      if (!name.endsWith('.*') && !known.has(name)) continue;
      const reason = refusal(path, name, owners, used);
      if (reason !== null) faults.push(`  ${path}:${line}: ${name}: ${reason}`);
    }
  for (const [place, names] of owners.sharedTables.flatMap(allowedBy))
    for (const name of names)
      if (!used.has(`${place} ${name}`))
        faults.push(`  ${place} no longer names ${name}: remove it from sharedTables`);
  for (const table of Object.keys(owners.serviceRooms))
    if (!known.has(`service.${table}`))
      faults.push(`  there is no service.${table}: remove it from serviceRooms`);
  return faults;
}

/** Checks that SQL names only tables of its own room, and tables that schema-rooms.ts allows. */
export function checkSchemaRooms(root: string): Outcome {
  const files: Record<string, string> = {};
  for (const path of globSync('{src,indexer,search}/**/*.ts', { cwd: root }).toSorted()) {
    const text = readFileSync(join(root, path), 'utf8');
    if (/\b(?:chain|service)\b/u.test(text)) files[path] = text;
  }
  const dump = readFileSync(join(root, 'docs/schema.sql'), 'utf8');
  const known = new Set([...dump.matchAll(/\b(?:chain|service)\.\w+/gu)].map(([name]) => name));
  const faults = schemaFaults(files, known, { chainRooms, serviceRooms, sharedTables });
  const rule = 'SQL that names a table of another room (scripts/forbid/schema-rooms.ts):';
  return { faults: faults.length === 0 ? [] : [[rule, ...faults].join('\n')], notes: [] };
}
