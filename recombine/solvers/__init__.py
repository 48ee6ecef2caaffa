"""Who answers: from the ideal learner to the network."""
