/** Returns whether a host is `localhost`, an address such as `127.0.0.1`, or `::1` with or without brackets. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|::1|\[::1\])$/i.test(host);
