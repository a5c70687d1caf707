/** Where a replica is reached, as `http://host:port`. Throws where it is anything else; `name` is the option's. */
export const peerUrlOf = (name: string, text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url?.pathname === '/' && url.search + url.hash + url.username + url.password === '';
  // What was given is not repeated: a password may be in it.
  if (url?.protocol !== 'http:' || !isPlain) {
    throw new Error(`${name} must be like http://10.0.0.5:8787, with nothing after the port`);
  }
  return url.origin;
};

/** Every address of a machine, which is none that another one could ask. */
const EVERY_HOST = new Set(['0.0.0.0', '[::]']);

/** Where others reach one that listens at `url`; `null` where they cannot: an address with a zone is none either. */
export const ownPeerUrl = (url: string): string | null =>
  URL.canParse(url) && !EVERY_HOST.has(new URL(url).hostname) ? url : null;
