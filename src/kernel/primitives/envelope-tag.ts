/**
 * Tags of an envelope's fields (ord tag.rs). ord consumes the values of these tags. If a field with an even tag
 * remains, the inscription is unbound.
 */
export const envelopeTags = {
  contentType: 1,
  pointer: 2,
  parent: 3,
  metadata: 5,
  metaprotocol: 7,
  contentEncoding: 9,
  delegate: 11,
  rune: 13,
  note: 15,
  properties: 17,
  propertyEncoding: 19,
} as const;
