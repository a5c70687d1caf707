/** Host without a scheme, such as `www.example.com/x` or `example.com`, which browsers resolve as a path. */
const HOST = /^(?:www\.|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[/?#]|$))/i;
/** File name that looks like a host, such as `sale.html`. */
const FILE = /^[\w-]+\.(?:html?|php|aspx?|jsp|pdf|svg|png|jpe?g|gif|webp|avif)(?:[?#]|$)/i;
const MAIL = /^[^\s/?#:@]+@[^\s/?#:@]+$/;

const SCHEMES = { link: /^(?:https?|mailto|tel):$/, image: /^https?:$/ };
const ALLOWED = {
  link: 'Use https, http, mailto, tel, or a path of your site.',
  image: 'Use https, http, or a path of your site.',
};

/** Returns the reason that pages would drop a URL from the banner; `null` if they accept it. */
export const getUrlError = (address: string, use: 'link' | 'image'): string | null => {
  if (!URL.canParse(address, 'https://site.example/')) return `Invalid URL. ${ALLOWED[use]}`;
  const { protocol } = new URL(address, 'https://site.example/');
  return SCHEMES[use].test(protocol) ? null : `Pages reject this URL. ${ALLOWED[use]}`;
};

/** Returns a warning for a valid URL that looks like a mistake; `null` if none. */
export const getUrlWarning = (value: string): string | null => {
  const address = value.trim();
  if (MAIL.test(address)) return `For an email link, use mailto:${address}`;
  if (!HOST.test(address) || FILE.test(address)) return null;
  return `This is a path of your site. For another site, use https://${address}`;
};
