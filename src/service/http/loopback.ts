/**
 * Whether a host is of this machine alone: `localhost`, an address such as `127.0.0.1`, or `::1`, with the brackets that it
 * has in a URL or without.
 */
export const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|::1|\[::1\])$/i.test(host);
