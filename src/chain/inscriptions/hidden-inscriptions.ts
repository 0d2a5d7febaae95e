import type { ClientBase } from 'pg';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';

/** Maximum number of keys checked in one statement. */
const keysAtOnce = 1_000;
/**
 * Number of bytes read from the beginning of a body. For most bodies these bytes prove that ord does not hide the
 * inscription.
 */
const headBytes = 256;

/**
 * Content types that ord shows on its lists. They are the types in its table (media.rs), except code, text and unknown
 * types.
 */
const shownTypes = [
  'application/pdf',
  'audio/flac',
  'audio/mpeg',
  'audio/ogg',
  'audio/ogg;codecs=opus',
  'audio/wav',
  'font/otf',
  'font/ttf',
  'font/woff',
  'font/woff2',
  'image/apng',
  'image/avif',
  'image/gif',
  'image/jpeg',
  'image/jxl',
  'image/png',
  'image/svg+xml',
  'image/webp',
  'model/gltf+json',
  'model/gltf-binary',
  'text/html',
  'text/html;charset=utf-8',
  'text/markdown',
  'text/markdown;charset=utf-8',
  'video/mp4',
  'video/webm',
].map((type) => Buffer.from(type));

const bvmNetwork = Buffer.from(
  '<body style="background:#F61;color:#fff;"><h1 style="height:100%">bvm.network</h1></body>',
);
const onlyReference = /^\p{White_Space}*\/content\/[0-9a-fA-F]{64}i\p{Nd}+\p{White_Space}*$/u;
const referenceBegins = /^\p{White_Space}*(?:\/|$)/u;
/** Possible first bytes of hidden bodies: the first byte of a tag, of a slash, or of white space in UTF-8. */
const hiddenBegin = [0x3c, 0x2f, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xc2, 0xe1, 0xe2, 0xe3].map((byte) =>
  Buffer.of(byte),
);

/** Whether ord hides an inscription because of its body alone (inscription.rs `hidden`). */
export function isHiddenBody(body: Uint8Array): boolean {
  if (bvmNetwork.equals(body.subarray(0, bvmNetwork.length))) return true;
  const text = utf8OrNull(body);
  return text !== null && onlyReference.test(text);
}

/** Whether a body that begins with these bytes can be a reference. */
function mayBeReference(head: Uint8Array): boolean {
  try {
    // the last character may be cut; invalid UTF-8 before it makes the whole body invalid
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(head, { stream: true });
    return referenceBegins.test(text);
  } catch {
    return false;
  }
}

/** Selects the inscriptions that ord does not hide. They have a shown type, their own body, and no metaprotocol. */
export async function shownAmong(
  client: ClientBase,
  keys: readonly InscriptionKey[],
): Promise<Set<InscriptionKey>> {
  const shown = new Set<InscriptionKey>();
  for (let from = 0; from < keys.length; from += keysAtOnce) {
    const { rows } = await client.query<{
      key: InscriptionKey;
      content_id: number;
      head: Buffer | null;
      size: number;
    }>(
      `SELECT i.key, i.content_id, length(c.body) AS size,
         CASE WHEN substring(c.body FROM 1 FOR 1) = ANY($4::bytea[]) THEN substring(c.body FROM 1 FOR $3) END AS head
       FROM unnest($1::integer[]) AS asked(key)
       JOIN chain.inscriptions i ON i.key = asked.key
       JOIN chain.contents c ON c.content_id = i.content_id
       LEFT JOIN chain.inscription_details d ON d.key = i.key
       WHERE i.content_type = ANY($2::bytea[]) AND d.metaprotocol IS NULL`,
      [keys.slice(from, from + keysAtOnce), shownTypes, headBytes, hiddenBegin],
    );
    for (const { key, content_id: contentId, head, size } of rows) {
      if (head === null || !(await isHidden(client, contentId, head, size))) shown.add(key);
    }
  }
  return shown;
}

async function isHidden(client: ClientBase, contentId: number, head: Buffer, size: number): Promise<boolean> {
  const needsAll = size > headBytes && mayBeReference(head);
  return isHiddenBody(needsAll ? await wholeBody(client, contentId) : head);
}

async function wholeBody(client: ClientBase, contentId: number): Promise<Uint8Array> {
  const { rows } = await client.query<{ body: Buffer }>(
    'SELECT body FROM chain.contents WHERE content_id = $1',
    [contentId],
  );
  return rows[0]?.body ?? new Uint8Array(0);
}
