/** Placard extension. */
export const PREVIEW_PATH = '/placard/preview';
/**
 * Parameter of the preview token in the URL fragment. Browsers do not send fragments, so it is in no log of the site and in no
 * `Referer`.
 */
export const PREVIEW_PARAMETER = 'placard_preview';
