import type { BodyKind } from './parse-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The format of the route's body. Absent if it is any JSON. */
    readonly body?: BodyKind;
    /**
     * The field of the body that contains all other fields. Error messages name fields without it, as on paths whose
     * body has no such field.
     */
    readonly within?: string;
    /** Maximum number of texts of a body that is a list of texts. */
    readonly textsMax?: number;
  }
}

export const mediaTypes = {
  json: 'application/json',
  exactJson: 'application/json',
  texts: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const satisfies Readonly<Record<BodyKind, string>>;

/** The content type of bodies for a sink. */
export const anyMediaType = '*/*';

/** Maximum number of characters of a media type. An inscription has its type in one push, which cannot be longer. */
const mediaTypeChars = 520;
/** A type with its parameters (RFC 9110, 8.3.1), in visible ASCII and blanks. */
const mediaTypeForm =
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:[ \t]*;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[ !#-[\]-~]*"))*$/u;

export const isMediaType = (text: string): boolean =>
  text.length <= mediaTypeChars && mediaTypeForm.test(text);
