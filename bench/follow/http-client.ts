import { Agent, request } from 'undici';

const agent = new Agent({ connections: 8, headersTimeout: 30_000, bodyTimeout: 30_000 });

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** A GET over persistent connections, as browsers and servers use. */
export async function get(origin: string, path: string): Promise<HttpAnswer> {
  const { statusCode, body } = await request(`${origin}${path}`, {
    dispatcher: agent,
    headers: { accept: 'application/json' },
  });
  return { status: statusCode, text: await body.text() };
}

/** Height of the block up to which searches answer; -1: the index is empty. */
export async function indexedHeight(origin: string): Promise<number> {
  const { headers, body } = await request(`${origin}/search?text=height&itemsPerPage=1`, {
    dispatcher: agent,
    headers: { accept: 'application/json' },
  });
  await body.dump();
  const value = headers['x-indexed-height'];
  return typeof value === 'string' && value !== '' ? Number(value) : -1;
}

/** `totalItems` of a search's answer; null: no answer. */
export async function totalItems(origin: string, path: string): Promise<number | null> {
  const { status, text } = await get(origin, path);
  return status === 200 ? (JSON.parse(text) as { totalItems: number }).totalItems : null;
}
