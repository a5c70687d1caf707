import type { Profile } from '../profiles/profile.ts';

/** What a property template may read. */
export interface PersonaliseContext {
  /** Standard attributes and identifiers by their wire name and by the usual template names: `{{${first_name}}}`. */
  user: Record<string, unknown>;
  /** `{{custom_attribute.${tier}}}`. */
  customAttributes: Record<string, unknown>;
  /** `{{targeted_device.${platform}}}`; empty where the device is not known. */
  device: Record<string, unknown>;
}

/** Names that templates use beside those of the wire. */
const aliasesOf = (standard: Record<string, unknown>) => ({
  city: standard['home_city'],
  date_of_birth: standard['dob'],
});

/** Everything a template may know of one user. A device counts as known when the profile has it. */
export const personaliseContext = (
  externalId: string,
  profile: Readonly<Profile> | null,
  deviceId: string | undefined,
  appPlatforms: ReadonlyMap<string, string>,
): PersonaliseContext => {
  const standard = profile?.standard ?? {};
  const token = deviceId && profile?.pushTokens.find(({ device_id }) => device_id === deviceId);
  return {
    user: {
      ...standard,
      ...aliasesOf(standard),
      user_id: externalId,
      external_id: externalId,
      braze_id: profile ? String(profile.userId) : undefined,
      email: profile?.email,
      email_address: profile?.email,
      phone: profile?.phone,
      phone_number: profile?.phone,
    },
    customAttributes: profile?.custom ?? {},
    device: token ? { id: token.device_id, platform: appPlatforms.get(token.app_id) || undefined } : {},
  };
};
