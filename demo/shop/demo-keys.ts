/** Client key, which is public because it works only for banners. */
export const CLIENT_KEY = 'demo-client-key';
export const APP_ID = '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a';
