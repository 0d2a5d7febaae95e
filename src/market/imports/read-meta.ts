import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { CollectionMeta } from '#market/collections/collection.store.ts';
import { descriptionOf, linkOf, nameOf, type ReadText } from '#market/collections/collection-texts.ts';
import { type ImportFaults, invalid, optional } from './import-faults.ts';
import { importSlug } from './import-slug.ts';

const file = 'meta.json';

const slugRule =
  'no valid slug can be made from it; a slug has 1 to 100 of the characters a-z, 0-9, _ and -, and is neither "of" nor the id of an inscription';

/**
 * Reads `meta.json`. Unknown fields are ignored, because collections of the community have many. Optional fields that
 * are wrong are left out, each with a fault. Returns null, with a fault, if a required field is missing or wrong.
 * Throws `collection_invalid` if the file is not a JSON object.
 *
 * @param folder name of the folder of the file; it is the slug if the file has no slug
 */
export function readMeta(text: string, folder: string, faults: ImportFaults): CollectionMeta | null {
  const fields = objectOf(text);
  const slug = readSlug(fields['slug'], folder, faults);
  const name = nameOf(fields['name']);
  if (name.text === null) faults.refuse(`${file}, name`, name.why ?? 'a collection needs a name');
  const field = (key: string, read: (value: unknown) => ReadText): string | null =>
    optional(read(fields[key]), `${file}, ${key}`, faults);
  const others = {
    description: field('description', descriptionOf),
    icon: iconOf(fields['inscription_icon'], faults),
    website: field('website_link', linkOf),
    twitter: field('twitter_link', linkOf),
    discord: field('discord_link', linkOf),
  };
  return slug === null || name.text === null ? null : { ...slug, name: name.text, ...others };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(file, 'it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(file, 'it is not an object');
  return value as Readonly<Record<string, unknown>>;
}

/**
 * The slug in the file, else the slug from the folder's name. Returns null, with a fault, if neither the file nor the
 * folder has a usable slug.
 */
function readSlug(
  value: unknown,
  folder: string,
  faults: ImportFaults,
): Pick<CollectionMeta, 'slug' | 'listSlug'> | null {
  const isNamed = value !== undefined && value !== null && value !== '';
  const named = typeof value === 'string' ? madeOf(value.trim()) : null;
  if (named !== null) return named;
  const where = `${file}, slug`;
  const made = madeOf(folder);
  if (made === null) faults.refuse(where, slugRule);
  else if (isNamed) faults.leaveOut(where, `${slugRule}; the slug of the folder is used`);
  return made;
}

function madeOf(listSlug: string): Pick<CollectionMeta, 'slug' | 'listSlug'> | null {
  const slug = importSlug(listSlug);
  if (slug === null) return null;
  return slug === listSlug ? { slug } : { slug, listSlug };
}

function iconOf(value: unknown, faults: ImportFaults): InscriptionId | null {
  if (value === undefined || value === null || value === '') return null;
  const id = typeof value === 'string' ? parseInscriptionId(value) : null;
  if (id === null) faults.leaveOut(`${file}, inscription_icon`, 'it is not the id of an inscription');
  return id;
}
