//! The example of a decision tree: it compares every leaf with that in the clear.

#[path = "../../../core/examples/16_decision_tree.rs"]
mod example;

#[test]
fn encrypted_features_lead_to_the_leaves_of_the_clear() {
    example::walk("toy-link").expect("toy-link takes the tree");
}
