/** Placard extension. */
export const PREVIEW_PATH = '/placard/preview';
/**
 * Parameter of the preview token in the URL fragment. Browsers do not send fragments, so the token does not appear in the site's
 * logs or in `Referer`.
 */
export const PREVIEW_PARAMETER = 'placard_preview';
