import { Agent, request } from 'undici';

const agent = new Agent({ connections: 8, headersTimeout: 30_000, bodyTimeout: 30_000 });

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a GET request over persistent connections, like browsers and servers do. */
export async function get(origin: string, path: string): Promise<HttpAnswer> {
  const { statusCode, body } = await request(`${origin}${path}`, {
    dispatcher: agent,
    headers: { accept: 'application/json' },
  });
  return { status: statusCode, text: await body.text() };
}

/** Height of the last block that searches cover, or -1 if the index is empty. */
export async function indexedHeight(origin: string): Promise<number> {
  const { headers, body } = await request(`${origin}/search?text=height&itemsPerPage=1`, {
    dispatcher: agent,
    headers: { accept: 'application/json' },
  });
  await body.dump();
  const value = headers['x-indexed-height'];
  return typeof value === 'string' && value !== '' ? Number(value) : -1;
}

/** `totalItems` in the response to a search, or `null` if the search failed. */
export async function totalItems(origin: string, path: string): Promise<number | null> {
  const { status, text } = await get(origin, path);
  return status === 200 ? (JSON.parse(text) as { totalItems: number }).totalItems : null;
}
