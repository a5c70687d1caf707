/** An e-mail address is compared in lower case and kept as it was sent. */
export const comparableEmail = (email: string): string => email.toLowerCase();

/** A phone number is compared without the separators people write into it. */
export const comparablePhone = (phone: string): string => phone.replaceAll(/[\s\-()]/g, '');
