import type { FastifyRequest } from 'fastify';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';

/** A time as the interface writes it: UTC with microseconds, without a zone. */
export const marketTime = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length)}.000000`;

/** Where this service is reached: PUBLIC_URL, else what the request names. */
export const originOf = (request: FastifyRequest, publicOrigin: string | null): string =>
  publicOrigin ?? `${request.protocol}://${request.host}`;

export const thumbnailUrl = (origin: string, { txid, index }: InscriptionId): string =>
  `${origin}/thumbnails/${formatInscriptionId(txid, index)}.jpeg`;
