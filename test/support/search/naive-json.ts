/** A JSON value as it is written. Duplicate members are kept, and numbers stay digits. */
export type JsonNode =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: JsonNode])[] };

const token =
  /\s*(?:(?<text>"(?:[^"\\]|\\.)*")|(?<plain>-?[0-9][0-9eE+.-]*|true|false|null)|(?<mark>[{}[\]:,]))\s*/uy;

/** Reads a JSON text by its tokens. Returns `null` if the text is not JSON. */
export function readJsonNodes(json: string): JsonNode | null {
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  const tokens = [...json.matchAll(new RegExp(token, 'uyg'))].map(({ groups }) => groups!);
  let at = 0;
  const mark = (): string | undefined => tokens[at]?.['mark'];
  const textOf = (text: string): string => JSON.parse(text) as string;
  const read = (): JsonNode => {
    const { text, plain } = tokens[at]!;
    if (text !== undefined || plain !== undefined) {
      at++;
      return { kind: 'scalar', text: text === undefined ? plain! : textOf(text) };
    }
    const isList = mark() === '[';
    const items: JsonNode[] = [];
    const members: [string, JsonNode][] = [];
    at++;
    while (mark() !== ']' && mark() !== '}') {
      if (mark() === ',') at++;
      if (isList) items.push(read());
      else {
        const name = textOf(tokens[at]!['text']!);
        at += 2;
        members.push([name, read()]);
      }
    }
    at++;
    return isList ? { kind: 'list', items } : { kind: 'object', members };
  };
  return read();
}

/** A scalar, and the name of the member that contains it directly or in a list; `null` at the root. */
export interface JsonValue {
  readonly under: string | null;
  readonly text: string;
}

/** Finds all names of members and all scalars of a JSON text, at any depth. */
export function jsonTerms(json: string): { names: string[]; values: JsonValue[] } {
  const names: string[] = [];
  const values: JsonValue[] = [];
  const visit = (node: JsonNode, under: string | null): void => {
    if (node.kind === 'scalar') values.push({ under, text: node.text });
    else if (node.kind === 'list') for (const item of node.items) visit(item, under);
    else {
      for (const [name, value] of node.members) {
        names.push(name);
        visit(value, name);
      }
    }
  };
  const root = readJsonNodes(json);
  if (root !== null) visit(root, null);
  return { names, values };
}

/** The parts of an inscription's tag 17 that searches read (docs/search.md, "Filters"). */
export interface NaiveProperties {
  readonly title: string | null;
  readonly traits: readonly (readonly [name: string, value: string])[];
  readonly gallery: readonly string[];
}

export function readProperties(json: string): NaiveProperties {
  const member = (node: JsonNode | undefined, name: string): JsonNode | undefined =>
    node?.kind === 'object' ? node.members.find(([one]) => one === name)?.[1] : undefined;
  const scalar = (node: JsonNode | undefined): string => (node?.kind === 'scalar' ? node.text : '');
  const root = readJsonNodes(json) ?? undefined;
  const attributes = member(root, 'attributes');
  const gallery = member(root, 'gallery');
  const traits = member(attributes, 'traits');
  const plain = JSON.parse(json) as { attributes: { title: string | null } };
  const all = traits?.kind === 'object' ? traits.members : [];
  return {
    title: plain.attributes.title?.slice(0, 1000).replace(/[\ud800-\udbff]$/u, '') ?? null,
    traits: all.length > 256 ? [] : all.map(([name, value]) => [name, scalar(value)]),
    gallery: gallery?.kind === 'list' ? gallery.items.map((item) => scalar(member(item, 'id'))) : [],
  };
}
