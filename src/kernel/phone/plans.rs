//! Numbering plans of the world: calling codes, and how many digits may follow them.
//!
//! Lengths only: ranges of numbers change every month, and a number that exists must not be refused
//! because a table is old.

/// The numbers of one calling code.
pub struct Plan {
    pub calling_code: u16,
    shortest: u8,
    longest: u8,
    /// Whether national calls begin with a zero that is not part of the number: `(0)412…`.
    has_trunk_zero: bool,
}

impl Plan {
    /// The plan of a number without its plus sign, and the digits after the calling code. No calling
    /// code is the beginning of another one.
    pub fn of(digits: &str) -> Option<(&'static Self, &str)> {
        // Otherwise the zero of `+0812…` would be lost, and 81 is Japan.
        if digits.starts_with('0') {
            return None;
        }
        (1..=3).find_map(|length| {
            let (code, national) = digits.split_at_checked(length)?;
            let code = code.parse().ok()?;
            let at = PLANS.binary_search_by_key(&code, |plan| plan.calling_code).ok()?;
            let plan = &PLANS[at];
            Some((plan, plan.without_trunk_zero(national)))
        })
    }

    fn without_trunk_zero<'a>(&self, national: &'a str) -> &'a str {
        match self.has_trunk_zero {
            true => national.strip_prefix('0').unwrap_or(national),
            false => national,
        }
    }

    pub fn allows(&self, national: &str) -> bool {
        (usize::from(self.shortest)..=usize::from(self.longest)).contains(&national.len())
            && !(self.has_trunk_zero && national.starts_with('0'))
    }
}

const fn plain(calling_code: u16, shortest: u8, longest: u8) -> Plan {
    Plan { calling_code, shortest, longest, has_trunk_zero: false }
}

const fn trunk(calling_code: u16, shortest: u8, longest: u8) -> Plan {
    Plan { calling_code, shortest, longest, has_trunk_zero: true }
}

/// Calling code, shortest and longest number, in the order of calling codes.
#[rustfmt::skip]
const PLANS: &[Plan] = &[
    plain(1, 10, 10), plain(7, 10, 10), trunk(20, 8, 10), trunk(27, 5, 9), plain(30, 10, 10),
    trunk(31, 9, 11), trunk(32, 8, 9), trunk(33, 9, 9), plain(34, 9, 9), plain(36, 8, 9),
    plain(39, 6, 12), trunk(40, 6, 9), trunk(41, 9, 9), trunk(43, 4, 13), trunk(44, 9, 10),
    plain(45, 8, 8), trunk(46, 7, 9), plain(47, 8, 8), plain(48, 7, 9), trunk(49, 5, 13),
    trunk(51, 8, 9), plain(52, 10, 11), trunk(53, 6, 10), trunk(54, 10, 11), trunk(55, 10, 11),
    plain(56, 9, 9), trunk(57, 8, 10), trunk(58, 10, 10), trunk(60, 8, 10), trunk(61, 9, 10),
    trunk(62, 7, 12), trunk(63, 6, 10), trunk(64, 8, 10), plain(65, 8, 8), trunk(66, 8, 9),
    trunk(81, 9, 10), trunk(82, 5, 11), trunk(84, 9, 10), trunk(86, 7, 11), trunk(90, 10, 10),
    trunk(91, 10, 10), trunk(92, 9, 10), trunk(93, 9, 9), trunk(94, 9, 9), trunk(95, 6, 10),
    trunk(98, 6, 10), trunk(211, 9, 9), trunk(212, 9, 9), trunk(213, 8, 9), plain(216, 8, 8),
    trunk(218, 9, 9), plain(220, 7, 7), plain(221, 9, 9), plain(222, 8, 8), plain(223, 8, 8),
    plain(224, 8, 9), plain(225, 10, 10), plain(226, 8, 8), plain(227, 8, 8), plain(228, 8, 8),
    plain(229, 8, 10), plain(230, 7, 8), trunk(231, 7, 9), trunk(232, 8, 8), trunk(233, 9, 9),
    trunk(234, 7, 10), plain(235, 8, 8), plain(236, 8, 8), plain(237, 9, 9), plain(238, 7, 7),
    plain(239, 7, 7), plain(240, 9, 9), plain(241, 7, 8), plain(242, 9, 9), trunk(243, 7, 10),
    plain(244, 9, 9), plain(245, 7, 9), plain(246, 7, 7), plain(247, 5, 5), plain(248, 7, 7),
    trunk(249, 9, 9), trunk(250, 8, 9), trunk(251, 9, 9), trunk(252, 6, 9), plain(253, 8, 8),
    trunk(254, 7, 9), trunk(255, 9, 9), trunk(256, 9, 9), plain(257, 8, 8), plain(258, 8, 9),
    trunk(260, 9, 9), trunk(261, 9, 9), trunk(262, 9, 9), trunk(263, 5, 10), trunk(264, 8, 9),
    trunk(265, 7, 9), plain(266, 8, 8), plain(267, 7, 8), plain(268, 8, 8), plain(269, 7, 7),
    plain(290, 4, 5), trunk(291, 7, 7), plain(297, 7, 7), plain(298, 6, 6), plain(299, 6, 6),
    plain(350, 8, 8), plain(351, 9, 9), plain(352, 4, 11), trunk(353, 7, 10), plain(354, 7, 9),
    trunk(355, 8, 9), plain(356, 8, 8), plain(357, 8, 8), trunk(358, 5, 10), trunk(359, 6, 9),
    trunk(370, 8, 8), plain(371, 8, 8), plain(372, 7, 8), trunk(373, 8, 8), trunk(374, 8, 8),
    plain(375, 9, 9), plain(376, 6, 9), trunk(377, 8, 9), plain(378, 8, 10), trunk(380, 9, 9),
    trunk(381, 7, 12), trunk(382, 8, 8), trunk(383, 8, 12), trunk(385, 8, 9), trunk(386, 8, 8),
    trunk(387, 8, 9), trunk(389, 8, 8), plain(420, 9, 9), trunk(421, 6, 9), trunk(423, 7, 9),
    plain(500, 5, 5), plain(501, 7, 7), plain(502, 8, 8), plain(503, 8, 8), plain(504, 8, 8),
    plain(505, 8, 8), plain(506, 8, 8), plain(507, 7, 8), trunk(508, 6, 9), plain(509, 8, 8),
    trunk(590, 9, 9), trunk(591, 8, 8), plain(592, 7, 7), trunk(593, 8, 9), trunk(594, 9, 9),
    trunk(595, 7, 9), trunk(596, 9, 9), plain(597, 6, 7), trunk(598, 8, 8), plain(599, 7, 8),
    plain(670, 7, 8), plain(672, 6, 6), plain(673, 7, 7), plain(674, 7, 7), plain(675, 7, 8),
    plain(676, 5, 7), plain(677, 5, 7), plain(678, 5, 7), plain(679, 7, 7), plain(680, 7, 7),
    plain(681, 6, 6), plain(682, 5, 5), plain(683, 4, 7), plain(685, 5, 10), trunk(686, 5, 8),
    plain(687, 6, 6), plain(688, 5, 7), plain(689, 8, 8), plain(690, 4, 7), plain(691, 7, 7),
    plain(692, 7, 7), trunk(850, 8, 10), plain(852, 8, 8), plain(853, 8, 8), trunk(855, 8, 9),
    trunk(856, 8, 10), plain(870, 9, 12), plain(878, 12, 12), trunk(880, 6, 10), plain(881, 9, 10),
    plain(882, 7, 12), plain(883, 8, 12), trunk(886, 8, 11), plain(960, 7, 7), trunk(961, 7, 8),
    trunk(962, 8, 9), trunk(963, 8, 9), trunk(964, 8, 10), plain(965, 8, 8), trunk(966, 9, 9),
    trunk(967, 7, 9), plain(968, 8, 8), trunk(970, 8, 9), trunk(971, 8, 9), trunk(972, 8, 12),
    plain(973, 8, 8), plain(974, 8, 8), plain(975, 7, 8), trunk(976, 8, 10), trunk(977, 8, 10),
    plain(992, 9, 9), plain(993, 8, 8), trunk(994, 9, 9), trunk(995, 9, 9), trunk(996, 9, 9),
    plain(998, 9, 9),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calling_codes_are_in_order_and_none_begins_another() {
        assert!(PLANS.is_sorted_by(|a, b| a.calling_code < b.calling_code));
        for plan in PLANS {
            let code = plan.calling_code.to_string();
            assert!((1..=3).contains(&code.len()) && plan.shortest <= plan.longest, "{code}");
            // E.164 has at most fifteen digits.
            assert!(code.len() + usize::from(plan.longest) <= 15, "{code}");
            assert_eq!(Plan::of(&code).unwrap().0.calling_code, plan.calling_code);
        }
    }
}
