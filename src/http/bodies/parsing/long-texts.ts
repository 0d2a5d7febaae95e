import { Type } from 'typebox';

/**
 * A text of a body on a route with `longTexts`. A text of a large body with at least `longTextBytes` stays UTF-8 bytes.
 * Strings of 67 MB of files would be copied between threads on the event loop, which takes 50 to 100 ms.
 */
export type BodyText = string | Uint8Array<ArrayBuffer>;

/** Whether a route takes long texts, or in which fields. */
export type LongTexts = boolean | readonly string[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The handler takes long texts of a large body as bytes. The fields of these texts have `bodyText` in the schema. A
     * list names the fields that may be long. Long texts of all other fields are cut after 4,097 characters. Such texts
     * are refused as too long, or belong to unknown fields, and up to 30 MB of them would be kept until the answer is
     * sent.
     */
    readonly longTexts?: LongTexts;
  }
}

/**
 * Number of characters that are left of a cut text. It is more than the longest text that is not a content may have.
 */
const cutChars = 4097;

/** Minimum size of a long text, in bytes. A shorter text costs more as a view than as a string. */
export const longTextBytes = 4096;

/** The schema of a text that may be long. */
export function bodyText(description: string) {
  return Type.Refine(
    Type.Unsafe<BodyText>({ description }),
    (value) => typeof value === 'string' || value instanceof Uint8Array,
    () => 'must be a text',
  );
}

/** The length of a text in UTF-8. */
export function textBytes(text: BodyText): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
}

/**
 * Replaces each long text in a JSON value by its bytes, all in one buffer. The given value is changed. If the value is
 * itself a long text, its bytes are returned.
 *
 * @param names of the fields that may be long, or whose lists may have long texts. Texts of other fields are cut. True:
 * all fields may be long
 */
export function liftLongTexts(
  value: unknown,
  names: LongTexts = true,
): { value: unknown; buffer: ArrayBuffer | null } {
  const root = { value };
  const mayBeLong = typeof names === 'boolean' ? null : new Set(names);
  const places = longTextsIn(root).map(
    (place): TextPlace =>
      mayBeLong === null || mayBeLong.has(place.field)
        ? place
        : { ...place, text: place.text.slice(0, cutChars) },
  );
  if (places.length === 0) return { value, buffer: null };
  const lengths = places.map(({ text }) => Buffer.byteLength(text));
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  const encoder = new TextEncoder();
  let start = 0;
  for (const [index, { holder, name, text }] of places.entries()) {
    const view = bytes.subarray(start, start + (lengths[index] ?? 0));
    encoder.encodeInto(text, view);
    holder[name] = view;
    start += view.byteLength;
  }
  return { value: root.value, buffer: bytes.buffer };
}

interface TextPlace {
  readonly holder: Record<string, unknown>;
  readonly name: string;
  /** Name of the field. For an item of a list: the name of the list. */
  readonly field: string;
  readonly text: string;
}

/** Finds long texts without recursion, because JSON may be as deep as a body is long. */
function longTextsIn(root: Record<string, unknown>): TextPlace[] {
  const places: TextPlace[] = [];
  const left: { readonly holder: Record<string, unknown>; readonly list: string | null }[] = [
    { holder: root, list: null },
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { holder, list } = next;
    for (const [name, part] of Object.entries(holder)) {
      const field = list ?? name;
      if (typeof part === 'string') {
        // a character has at most three bytes for each of its UTF-16 units, and at least one
        if (part.length * 3 >= longTextBytes && Buffer.byteLength(part) >= longTextBytes) {
          places.push({ holder, name, field, text: part });
        }
      } else if (typeof part === 'object' && part !== null) {
        left.push({ holder: part as Record<string, unknown>, list: Array.isArray(part) ? field : null });
      }
    }
  }
  return places;
}
