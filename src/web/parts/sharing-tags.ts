import { html, Markup } from '#web/html.ts';

export interface FeedLink {
  readonly href: string;
  readonly title: string;
}

/** Facts in a page's head, for sites that show links and for feed readers. */
export interface Sharing {
  /** The origin of this site. Empty if it is unknown. */
  readonly origin: string;
  /** Path of the page's picture, which has 1200 × 630 pixels. */
  readonly picture: string;
  readonly feed: FeedLink | null;
}

/**
 * A mark that reserves the position of these tags, because a page is made before its URL is known. No text in the page
 * can contain the mark, because the brackets of texts are escaped.
 */
const place = '<!--sharing-->';
export const sharingPlace = new Markup(place);

/** The page with the tags in the position of the mark. */
export const withSharing = (page: Markup, sharing: Sharing): Markup =>
  new Markup(page.text.replace(place, () => tags(sharing).text));

function tags({ origin, picture, feed }: Sharing): Markup {
  return html`<meta property="og:image" content="${origin}${picture}">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">
${feed !== null && html`<link rel="alternate" type="application/atom+xml" href="${feed.href}" title="${feed.title}">`}`;
}
