import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Tip } from '#kernel/contracts/search-engine.ts';

/** Counts up when the same tip and URL are answered with other bytes by newer code. */
const answerVersion = 1;

/**
 * The entity tag of an answer: it changes with the tip and with the question. Weak, because two instances at
 * one tip differ in `createdat` alone.
 */
export function answerTag(tip: Tip | null, url: string): string {
  const hash = createHash('sha256');
  hash.update(`${answerVersion} ${tip === null ? 'none' : tip.height} `);
  if (tip !== null) hash.update(tip.hash);
  return `W/"${hash.update(url).digest('base64url').slice(0, 27)}"`;
}

/** Whether `If-None-Match` names a tag, compared weakly (RFC 9110, 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = (value: string): string => value.trim().replace(/^W\//u, '');
  return header.split(',').some((value) => value.trim() === '*' || opaque(value) === opaque(tag));
}

/** Says of which moment an answer speaks. */
export function setMoment(request: FastifyRequest, reply: FastifyReply, tip: Tip | null): void {
  if (tip !== null) reply.header('x-indexed-height', tip.height);
  reply.header('etag', answerTag(tip, request.url)).header('cache-control', 'no-cache');
}

/** True where the client's copy is of this very tip: a 304 is sent then, and nothing needs to be searched. */
export async function answeredUnchanged(
  pool: pg.Pool,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const header = request.headers['if-none-match'];
  if (header === undefined) return false;
  const { rows } = await pool.query<{ tip_height: number | null; tip_hash: Buffer | null }>(
    'SELECT tip_height, tip_hash FROM chain.state',
  );
  const { tip_height: height, tip_hash: hash } = rows[0] ?? { tip_height: null, tip_hash: null };
  const tip = height === null || hash === null ? null : { height, hash };
  if (!matchesTag(header, answerTag(tip, request.url))) return false;
  setMoment(request, reply, tip);
  reply.code(304).send();
  return true;
}
