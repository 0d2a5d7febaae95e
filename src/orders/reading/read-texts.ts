import { contentTypeOf } from '#kernel/requests/file-types.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { orderBounds } from '#orders/inscribing/order-terms.ts';
import type { ReadFile } from './read-files.ts';

type Item = Readonly<Record<string, unknown>>;

/** Fields of a text order whose texts may be as long as a body. */
export const textFields = ['texts'] as const;

/** Maximum number of bytes of texts in one call (interface, section 8). */
const textBytesMax = 50_000_000;

/** Fields that POST /order accepts instead of texts. */
const otherContents = ['files', 'delegates'] as const;

/**
 * Reads the texts of an order as files, which are named by their number: `1.txt`. Files and delegates beside texts are
 * refused, because a customer would get fewer inscriptions than were sent.
 */
export function readTexts(values: RequestValues, order: Item): ReadFile[] {
  for (const name of otherContents)
    if (hasItems(order[name]))
      values.sentence(name, `${name} cannot be part of an order of texts. Use POST /order for this.`);
  const texts = values.list(order['texts'], 'texts');
  if (texts.length > orderBounds.files) {
    values.fault('texts', `are ${texts.length}, but an order has at most ${orderBounds.files}`);
    return [];
  }
  if (texts.length === 0 && values.faults.length === 0)
    values.sentence('texts', 'texts is required for an order of texts.');
  const read = texts.flatMap((text, index) => readText(values, text, index));
  const bytes = read.reduce((sum, { body }) => sum + (body?.kind === 'data' ? body.data.bytes : 0), 0);
  if (bytes > textBytesMax)
    values.fault('texts', `have ${bytes} bytes, but one request may have at most ${textBytesMax}`);
  return read;
}

/** Whether a field has contents. */
export const hasItems = (given: unknown): boolean =>
  isGiven(given) && !(Array.isArray(given) && given.length === 0);

function readText(values: RequestValues, given: unknown, index: number): ReadFile[] {
  const field = `texts[${index}]`;
  const held = bytesOf(given);
  if (held === null || held.length === 0) {
    values.fault(field, held === null ? 'must be a text' : 'is empty');
    return [];
  }
  const name = `${index + 1}.txt`;
  const contentType = contentTypeOf(name) ?? 'text/plain';
  return [
    {
      terms: {
        contentType,
        body: held.length,
        delegate: null,
        contentEncoding: null,
        metaprotocol: null,
        metadata: null,
      },
      metadata: null,
      name,
      body: { kind: 'data', data: { kind: 'content', bytes: held.length, mediaType: contentType, held } },
      field,
    },
  ];
}

/**
 * The text as UTF-8 bytes. Returns null if the value is not a text. `readJson` has already refused texts that UTF-8
 * cannot encode.
 */
function bytesOf(given: unknown): Uint8Array | null {
  if (given instanceof Uint8Array) return given;
  return typeof given === 'string' ? Buffer.from(given) : null;
}
