import { Type } from 'typebox';

/**
 * A text of a body on a route with `longTexts`. If the body is large and the text has at least `longTextBytes`, the
 * text stays UTF-8 bytes. As strings, 67 MB of files would be copied between threads on the event loop, which takes 50
 * to 100 ms.
 */
export type BodyText = string | Uint8Array<ArrayBuffer>;

/** Whether a route accepts long texts as bytes, or the names of the fields in which it does. */
export type LongTexts = boolean | readonly string[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The long texts of a large body that the handler receives as bytes. In the schema, their fields have the type
     * `bodyText`. A list names the fields that may be long. Long texts of all other fields are cut after 4,097
     * characters. Such texts are refused as too long, or belong to unknown fields; without the cut, up to 30 MB of them
     * would be kept until the response is sent.
     */
    readonly longTexts?: LongTexts;
  }
}

/** Number of characters to which a text is cut. Every text that is not a content has a lower maximum. */
const cutChars = 4097;

/** Minimum size of a long text, in bytes. For a shorter text, a view of bytes would cost more than a string. */
export const longTextBytes = 4096;

/** The schema of a text that may be long. */
export function bodyText(description: string) {
  return Type.Refine(
    Type.Unsafe<BodyText>({ description }),
    (value) => typeof value === 'string' || value instanceof Uint8Array,
    () => 'must be a text',
  );
}

/** The length of a text in UTF-8 bytes. */
export function textBytes(text: BodyText): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
}

/** A JSON value in which long texts were replaced by their bytes. */
interface LiftedValue {
  readonly value: unknown;
  /** The buffers of all bytes in the value. */
  readonly buffers: readonly ArrayBuffer[];
}

interface LiftOptions {
  /**
   * Names of the fields that may be long, or that are lists with long texts. Texts of other fields are cut. True if all
   * fields may be long.
   */
  readonly names?: LongTexts;
  /** The texts that marks of the value stand for (plain-texts.ts). */
  readonly marked?: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

/**
 * Minimum share of a body that its marked texts must have, so that they stay views of the body. A smaller share is
 * copied, and the rest of the body is freed.
 */
const keptShare = 0.75;

/**
 * Replaces each long text in a JSON value by its bytes. The given value is changed. If the value is itself a long text,
 * its bytes are returned.
 */
export function liftLongTexts(
  value: unknown,
  { names = true, marked = new Map() }: LiftOptions = {},
): LiftedValue {
  const root = { value };
  const mayBeLong = typeof names === 'boolean' ? null : new Set(names);
  const places = longTextsIn(root, marked).map(
    (place): TextPlace =>
      mayBeLong === null || mayBeLong.has(place.field) ? place : { ...place, text: beginningOf(place.text) },
  );
  const kept = places.filter(isMarked);
  const body = kept[0]?.text.buffer;
  const keptBytes = kept.reduce((sum, { text }) => sum + text.byteLength, 0);
  const isKept = body !== undefined && keptBytes >= keptShare * body.byteLength;
  if (isKept) for (const { holder, name, text } of kept) holder[name] = text;
  const buffers = copyTexts(isKept ? places.filter((place) => !isMarked(place)) : places);
  return { value: root.value, buffers: isKept ? [body, ...buffers] : buffers };
}

const isMarked = (place: TextPlace): place is TextPlace & { readonly text: Uint8Array<ArrayBuffer> } =>
  typeof place.text !== 'string';

/** The first characters of a text. A marked text is ASCII, so its characters are bytes. */
const beginningOf = (text: BodyText): BodyText =>
  typeof text === 'string' ? text.slice(0, cutChars) : text.subarray(0, cutChars);

/** Copies texts into one buffer, and puts views of the copies in their places. */
function copyTexts(places: readonly TextPlace[]): ArrayBuffer[] {
  if (places.length === 0) return [];
  const lengths = places.map(({ text }) => textBytes(text));
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  const encoder = new TextEncoder();
  let start = 0;
  for (const [index, { holder, name, text }] of places.entries()) {
    const view = bytes.subarray(start, start + (lengths[index] ?? 0));
    if (typeof text === 'string') encoder.encodeInto(text, view);
    else view.set(text);
    holder[name] = view;
    start += view.byteLength;
  }
  return [bytes.buffer];
}

interface TextPlace {
  readonly holder: Record<string, unknown>;
  readonly name: string;
  /** Name of the field. For an item of a list, the name of the list. */
  readonly field: string;
  readonly text: BodyText;
}

/** Finds long texts without recursion, because JSON can be nested as deeply as a body is long. */
function longTextsIn(root: Record<string, unknown>, marked: NonNullable<LiftOptions['marked']>): TextPlace[] {
  const places: TextPlace[] = [];
  const left: { readonly holder: Record<string, unknown>; readonly list: string | null }[] = [
    { holder: root, list: null },
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { holder, list } = next;
    for (const [name, part] of Object.entries(holder)) {
      const field = list ?? name;
      if (typeof part === 'string') {
        const text = marked.get(part) ?? part;
        if (isLong(text)) places.push({ holder, name, field, text });
      } else if (typeof part === 'object' && part !== null) {
        left.push({ holder: part as Record<string, unknown>, list: Array.isArray(part) ? field : null });
      }
    }
  }
  return places;
}

function isLong(text: BodyText): boolean {
  // each UTF-16 unit of a text has at least one byte and at most three
  return text.length * 3 >= longTextBytes && textBytes(text) >= longTextBytes;
}
