/*
 * Properties (tag 17) as one JSON text, as ord shows them and as versions before docs/adr/0032 stored them:
 * {"gallery":[{"id":"…","attributes":{…}},…],"attributes":{…}}. The texts are our own
 * (indexer/parse/property-fields.ts), so they are cut and not parsed: some have 14 MB. Postgres cannot do it: its JSON
 * functions refuse a NUL.
 */

/** The JSON of title and traits of an item that has neither. */
export const noAttributes = '{"title":null,"traits":{}}';

const galleryStart = '{"gallery":[';
/**
 * Text before the inscription's own attributes. A list ends only there: an item of a gallery begins with its id, and
 * quotes in strings are escaped.
 */
const ownStart = '],"attributes":';
const itemStart = '{"id":"';
const itemMiddle = '","attributes":';

/** An item of a gallery. */
export interface TextItem {
  readonly id: string;
  /** JSON of its title and traits. Null: it has neither. */
  readonly attributes: string | null;
}

/** Title and traits of the inscription itself: JSON. */
export function attributesOfText(json: string): string {
  return json.slice(json.indexOf(ownStart) + ownStart.length, -1);
}

/** The items of the gallery, in order. */
export function* itemsOfText(json: string): Generator<TextItem> {
  for (let at = galleryStart.length; json.startsWith(itemStart, at); ) {
    const idEnd = json.indexOf('"', at + itemStart.length);
    const start = idEnd + itemMiddle.length;
    const isNone = json.startsWith(noAttributes, start);
    const end = isNone ? start + noAttributes.length : endOfObject(json, start);
    yield {
      id: json.slice(at + itemStart.length, idEnd),
      attributes: isNone ? null : json.slice(start, end),
    };
    // after its bracket, and the comma before the next
    at = end + 2;
  }
}

/** The place after the closing bracket of the object that begins here. */
function endOfObject(json: string, start: number): number {
  const mark = /["{}]/gu;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(json); found !== null; found = mark.exec(json)) {
    if (found[0] === '"') mark.lastIndex = endOfString(json, found.index);
    else depth += found[0] === '{' ? 1 : -1;
    if (depth === 0) return found.index + 1;
  }
  return json.length;
}

/** The place after the closing quote of the string that begins here. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}
