import type { BodyKind } from './parse-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The format of the route's body; absent: any JSON. */
    readonly body?: BodyKind;
    /** The field of the body that holds all others: faults name those without it, as paths without it do. */
    readonly within?: string;
    /** The most texts of a body that is a list of texts. */
    readonly textsMax?: number;
  }
}

export const mediaTypes = {
  json: 'application/json',
  texts: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const satisfies Readonly<Record<BodyKind, string>>;
