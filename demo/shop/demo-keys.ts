/** What a page may know: a client key does nothing but banners. The server key stays with the server. */
export const CLIENT_KEY = 'demo-client-key';
export const APP_ID = '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a';
