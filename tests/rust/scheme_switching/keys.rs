//! Keys that travel in parts do the same.

use refloat::bootstrapping::scheme_switching::{
    LinkEvaluator, LinkKeys, LinkPartKind, LinkSecretKey, Range, Reduction,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::wire::{secret_key_from_bytes, secret_key_to_bytes, verify_link_part};

use super::setup::{extract, world};

#[test]
fn keys_travel_in_parts_and_do_the_same() {
    let world = world();
    let (params, key_id) = (&world.params, world.secret.key_id());
    // The key of a file, to make parts with.
    let secret: LinkSecretKey<Reduction> =
        secret_key_from_bytes(params, &secret_key_to_bytes(&world.secret)).unwrap();
    let mut builder = LinkKeys::builder(params, key_id);
    let mut kinds = [0; 5];
    for part in params.key_parts().iter().rev() {
        let bytes = secret.key_part(part.index).unwrap();
        assert_eq!(bytes.len(), part.bytes, "{}", part.label);
        verify_link_part(params, key_id, part.index, &bytes).unwrap();
        let code =
            |key_id, bytes: &[u8]| verify_link_part(params, key_id, part.index, bytes).unwrap_err().code();
        assert_eq!(code([0; 16], &bytes), "PARAMS_MISMATCH", "{}", part.label);
        assert_eq!(code(key_id, &bytes[..bytes.len() - 1]), "BAD_BYTES", "{}", part.label);
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 1;
        assert_eq!(code(key_id, &damaged), "BAD_BYTES", "{}", part.label);
        assert!(builder.add(part.index, &damaged).is_err());
        assert!(
            verify_link_part(params, key_id, (part.index + 1) % params.key_parts().len(), &bytes).is_err()
        );
        assert!(builder.missing().contains(&part.index));
        builder.add(part.index, &bytes).unwrap();
        assert!(!builder.missing().contains(&part.index));
        let kind = match part.kind {
            LinkPartKind::Slots(_) => 0,
            LinkPartKind::Gates(_) => 1,
            LinkPartKind::Packing(_) => 2,
            LinkPartKind::ToGates => 3,
            LinkPartKind::ToSlots => 4,
        };
        kinds[kind] += 1;
    }
    assert!(kinds[0] > 10 && kinds[1] >= 2 && kinds[2..] == [1, 1, 1], "{kinds:?}");
    let last = params.key_parts().len();
    assert_eq!(secret.key_part(last).unwrap_err().code(), "INVALID_ARGUMENT");
    assert_eq!(LinkKeys::builder(params, key_id).finish().err().unwrap().code(), "MISSING_KEY");

    let keys = builder.finish().unwrap();
    assert_eq!((keys.key_id(), keys.memory_bytes()), (key_id, world.evaluator.keys().memory_bytes()));
    let evaluator = LinkEvaluator::new(params, keys, PlaintextStorage::Coefficients).unwrap();
    let phases = extract(world, &[0.2, 0.9, 0.6], Range::Unit);
    let [own, theirs] = [&world.evaluator, &evaluator].map(|evaluator| {
        let winner = evaluator.argmax(&phases, &mut ()).unwrap();
        let slots = evaluator.to_slots(&winner, &mut ()).unwrap();
        (winner, slots.parts().iter().map(|part| part.data().to_vec()).collect::<Vec<_>>())
    });
    assert!(own == theirs);
}
