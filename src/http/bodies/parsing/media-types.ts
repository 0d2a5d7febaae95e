import type { BodyKind } from './parse-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The format of the route's body; absent: any JSON. */
    readonly body?: BodyKind;
    /** The most texts of a body that is a list of texts. */
    readonly textsMax?: number;
  }
}

export const mediaTypes = {
  json: 'application/json',
  texts: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const satisfies Readonly<Record<BodyKind, string>>;
