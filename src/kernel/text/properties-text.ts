/*
 * Properties (tag 17) as one JSON text, in the form that ord shows, and that versions before docs/adr/0032 stored:
 * {"gallery":[{"id":"…","attributes":{…}},…],"attributes":{…}}. This program wrote the texts
 * (indexer/parse/property-fields.ts), so they are cut and not parsed, because some have 14 MB. Postgres cannot do it,
 * because its JSON functions refuse a NUL.
 */

/** The JSON of title and traits of an item that has no title and no traits. */
export const noAttributes = '{"title":null,"traits":{}}';

const galleryStart = '{"gallery":[';
/**
 * Text before the inscription's own attributes. A list can only end there, because an item of a gallery begins with its
 * id, and quotes in strings are escaped.
 */
const ownStart = '],"attributes":';
const itemStart = '{"id":"';
const itemMiddle = '","attributes":';

/** An item of a gallery. */
export interface TextItem {
  readonly id: string;
  /** JSON of the item's title and traits. `null` if the item has no title and no traits. */
  readonly attributes: string | null;
}

/** Title and traits of the inscription itself, as JSON. */
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
    // skips the item's bracket, and the comma before the next item
    at = end + 2;
  }
}

/** The position after the closing bracket of the object that begins at `start`. */
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

/** The position after the closing quote of the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}
